"""git_daily.py - every state in which git stops: natively and inside, unasked."""

import shutil

from git_compare import CONFLICT, EACH, START, compare
from tap import Skip, run_all, test

BOTH = (EACH,)


@test("conflicts with rerere on: recorded, replayed, forgotten", variants=BOTH)
def rerere(fx):
    compare(fx, CONFLICT + """
git config rerere.enabled true; git config rerere.autoUpdate true
stops git merge side; git rerere status; git rerere diff >/dev/null; git rerere remaining
echo both >f; git add f; git commit -q -m merged
git reset -q --hard HEAD~1; stops git merge side; git diff --quiet; git commit -q -m again
git reset -q --hard HEAD~1; stops git merge side; git rerere forget f >/dev/null 2>&1; git merge --abort
git switch -q side; stops git rebase main; git rebase --skip; git switch -q main
git rerere gc; git rerere clear
mkdir .git/rr-cache/x && rmdir .git/rr-cache/x
stops git cherry-pick side~1; git status >/dev/null; echo third >f; git commit -q -a -m picked
""")


@test("git merge: squash, octopus, ours, abort, autostash, no commit", variants=BOTH)
def merge(fx):
    compare(fx, CONFLICT + """
stops git merge side; git status >/dev/null; git merge --abort
git merge -q -X ours -m ours side; git reset -q --hard HEAD~1
git merge -q -s ours -m all side; git reset -q --hard HEAD~1
git merge --squash -X theirs side >/dev/null 2>&1; git commit -q --no-edit; git reset -q --hard HEAD~1
git merge --no-ff --no-commit -X ours side >/dev/null 2>&1; git merge --abort
git switch -q -c other HEAD~1; commit o 1; git switch -q -c another HEAD~1; commit p 1
git switch -q main; git merge -q -m octopus other another
echo dirty >>g; git merge -q --autostash -X ours -m stashed side >/dev/null; git commit -q -a -m dirty
git switch -q -c more; commit q 1; echo dirty >>g; stops git merge --autostash side~1 || true
git status >/dev/null; git reset -q --hard
git switch -q -c away main~1; commit z 1; stops git merge --ff-only main; git mergetool --tool=true </dev/null >/dev/null 2>&1 || true
""")


@test("git am and format-patch: three ways, signed off, with options, stopped in the middle",
      variants=BOTH)
def mail(fx):
    compare(fx, CONFLICT + """
git format-patch -q -o patches main~1..side --cover-letter; rm patches/0000*
git format-patch -q --stdout main~1..side >box
git switch -q -c a main~1; git am -q patches/*; git switch -q -c b main~1; git am -q -3 --signoff <box
git switch -q -c c main; stops git am -3 -C2 --whitespace=fix --exclude='x/*' -p1 --signoff box
git am --show-current-patch=diff >/dev/null; git status >/dev/null
echo resolved >f; git add f; git am --continue >/dev/null
git switch -q -c d main; stops git am --reject box; git am --skip >/dev/null; git log --oneline >/dev/null
git switch -q -c e main; stops git am --keep --scissors --committer-date-is-author-date box; git am --abort
git switch -q -c f main; stops git am -3 --rerere-autoupdate --no-gpg-sign box; git am --quit; git reset -q --hard
git apply --check patches/0002*; git apply --index patches/0002*; git commit -q -m applied
rm -rf patches box
""")


@test("git rebase: interactive, apart, with what was dirty, with fixups, onto, stopped in the middle",
      variants=BOTH)
def rebase(fx):
    compare(fx, CONFLICT + """
git switch -q -c work main; for n in 1 2 3 4; do commit w$n $n; done
GIT_SEQUENCE_EDITOR="sed -i -e '1s/pick/edit/' -e '2s/pick/squash/' -e '3s/pick/drop/'" git rebase -q -i HEAD~4 2>&1
git status >/dev/null; echo more >>w1; git add w1; git commit -q --amend --no-edit; git rebase --continue >/dev/null 2>&1
GIT_SEQUENCE_EDITOR="perl -i -pe 's/^pick/reword/'" GIT_EDITOR="sed -i -e '1s/^/again /'" git rebase -q -i HEAD~2
GIT_SEQUENCE_EDITOR="sed -i -e '1ibreak'" git rebase -q -i HEAD~1 2>&1 || true; git rebase --edit-todo; git rebase --continue >/dev/null 2>&1
commit w1 fixed 'x'; git commit -q --allow-empty --fixup=HEAD~1; git commit -q --allow-empty --squash=HEAD~2
GIT_SEQUENCE_EDITOR=true git rebase -q -i --autosquash --keep-empty HEAD~4
echo dirty >>g; git rebase -q --autostash HEAD~1 2>/dev/null; git rebase -q --autostash --force-rebase HEAD~2 >/dev/null 2>&1; git checkout -q g
stops git rebase side; git status >/dev/null; git rebase --abort
stops git rebase --apply side; git rebase --show-current-patch >/dev/null; echo r >f; git add f; git rebase --continue >/dev/null
git reset -q --hard ORIG_HEAD; stops git rebase --merge -s ort -X patience --signoff side; echo r >f; git add f; git rebase --continue >/dev/null
git reset -q --hard ORIG_HEAD; stops git rebase --apply --whitespace=fix -C1 side; git rebase --skip >/dev/null 2>&1 || git rebase --abort
git switch -q -c onto main; commit v 1; git rebase -q --onto main~1 main onto
git switch -q -c with main; git merge -q --no-ff -X ours -m m side; git rebase -q -r -f main~1 2>/dev/null || { git status >/dev/null; git rebase --abort; }
git switch -q -c below main; commit u 1; git switch -q -c above; commit u 2; git rebase -q --update-refs --force-rebase main >/dev/null 2>&1
git rebase -q --root 2>/dev/null || git rebase --abort
stops git rebase --autostash side; git rebase --quit; git reset -q --hard; git switch -q main
git pull -q --rebase . side 2>/dev/null || git rebase --abort
""")


@test("git bisect: by hand, by a command, with paths and words of its own", variants=BOTH)
def bisect(fx):
    compare(fx, START + """
for n in 1 2 3 4 5 6 7 8; do commit n $n; done
git bisect start HEAD HEAD~7 >/dev/null; git bisect run sh -c 'test "$(cat n)" -lt 5' >/dev/null
git bisect log >log; git bisect reset 2>/dev/null; git bisect replay log >/dev/null; git bisect reset 2>/dev/null; rm log
git bisect start --term-old fast --term-new slow >/dev/null; git bisect slow >/dev/null; git bisect fast HEAD~7 >/dev/null
git bisect skip >/dev/null; git bisect terms >/dev/null; git status >/dev/null; git bisect reset 2>/dev/null
git bisect start HEAD HEAD~4 -- n 'a b' "it's" >/dev/null; git bisect good >/dev/null; git bisect reset 2>/dev/null
git bisect start --no-checkout HEAD HEAD~4 >/dev/null; git bisect bad >/dev/null; git bisect reset 2>/dev/null
git bisect start --first-parent HEAD HEAD~4 >/dev/null; git bisect reset 2>/dev/null
""")


@test("git cherry-pick and revert: ranges, stopped in the middle, undone", variants=BOTH)
def picks(fx):
    compare(fx, CONFLICT + """
git switch -q -c pick main; stops git cherry-pick -x main~1..side; git status >/dev/null
echo p >f; git add f; git cherry-pick --continue >/dev/null 2>&1
git reset -q --hard main; stops git cherry-pick --strategy=ort -X patience side~1 side; git cherry-pick --skip >/dev/null 2>&1
git reset -q --hard main; stops git cherry-pick side~1 side; git cherry-pick --abort
stops git cherry-pick side~1 side; git cherry-pick --quit; git reset -q --hard
stops git cherry-pick --signoff --allow-empty --keep-redundant-commits side~1 side; git commit -q -a --no-edit; git cherry-pick --continue >/dev/null 2>&1
git reset -q --hard main; git cherry-pick -n side >/dev/null; git commit -q -m n
git revert --no-edit HEAD HEAD~1 >/dev/null; git reset -q --hard main
stops git revert --no-edit main~1 main~2 main~3; git status >/dev/null; git revert --abort 2>/dev/null || git reset -q --hard
git merge -q --no-ff -X ours -m m side; git revert --no-edit -m 1 HEAD >/dev/null
""")


@test("an editor that keeps files of its own beside a message", variants=BOTH)
def editors(fx):
    if not shutil.which("vim"):
        raise Skip("no vim")
    compare(fx, START + """
commit f 1; commit f 2; commit f 3
GIT_EDITOR="vim -Nu NONE -i NONE -es -c 'set backup swapfile' -c '1s/^/v/' -c wq" git commit -q --amend
GIT_SEQUENCE_EDITOR="vim -Nu NONE -i NONE -es -c 1s/pick/edit/ -c wq" git rebase -q -i HEAD~2 2>/dev/null
test -d .git/rebase-merge; git rebase --continue >/dev/null 2>&1
""")


run_all()
