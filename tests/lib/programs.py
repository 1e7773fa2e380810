"""programs.py - what tests/run.py has to know of single test programs, by their names."""

import os

# The flags of sandbash with which a suite is repeated; "" is the default run.
RUNS = {"enforce": ["", "--static"], "supervise": ["", "--static"], "machines": [""]}
# About processes that a static run has not, or names that it does not watch.
SUPERVISED_ONLY = ("cli/examples.py", "enforce/consent_around.py", "enforce/consent_forgery.py", "enforce/consent_tmux.py",
                   "enforce/distributions.py", "enforce/worker.py", "enforce/worker_escapes.py", "enforce/worker_surface.py",
                   "supervise/absent.py", "supervise/agent_settings.py",
                   "supervise/abstract.py", "supervise/beside_hidden.py", "supervise/connects.py", "supervise/cores.py",
                   "supervise/deep.py", "supervise/interrupted.py",
                   "supervise/deep_links.py", "supervise/detours.py", "supervise/fast.py", "supervise/folding.py", "supervise/followed.py", "supervise/proxy.py",
                   "supervise/git_links.py", "supervise/opened.py", "supervise/system.py",
                   "supervise/git_alternates.py", "supervise/git_autostash.py", "supervise/git_common.py", "supervise/git_daily.py", "supervise/git_packs.py",
                   "supervise/git_files.py", "supervise/git_index.py", "supervise/git_keys.py",
                   "supervise/git_directories.py", "supervise/git_temporary.py",
                   "supervise/git_rebase.py", "supervise/git_told.py",
                   "supervise/git_session.py", "supervise/git_unnamed.py", "supervise/git_upkeep.py",
                   "supervise/git_urls.py",
                   "supervise/bits.py", "supervise/grants.py", "supervise/guard.py", "supervise/hg_journal.py", "supervise/hg_subs.py", "supervise/hidden.py", "supervise/hidden_names.py", "supervise/home_links.py",
                   "supervise/ignored.py",
                   "supervise/killed.py", "supervise/later_names.py", "supervise/links_in.py", "supervise/moved.py", "supervise/nameless.py",
                   "supervise/noticed.py",
                   "supervise/obeyed.py", "supervise/other_vcs.py", "supervise/places.py", "supervise/renamed.py", "supervise/services.py", "supervise/shown.py",
                   "supervise/soak.py", "supervise/sqlite_journal.py", "supervise/state_links.py", "supervise/swapped.py", "supervise/sysv.py",
                   "supervise/trace.py", "supervise/two_runs.py", "supervise/unjudged.py")
# A scripted person reads a screen and types at it.  On a busy machine that may come too late for
# reasons that are not sandbash's, so these get a second try, and it is said.
PERSONS = ("cli/attach", "cli/consent", "cli/guard_consent", "cli/network_consent", "cli/on_terminal", "cli/prompt", "cli/terminal_asker",
           "cli/terminal_keys", "cli/watch", "enforce/consent_around", "enforce/consent_forgery", "enforce/consent_tmux", "enforce/terminals",
           "supervise/noticed", "supervise/shown")
# These wait most of their time as well: they go with the persons, but fail when they fail.
WAITING = PERSONS + ("cli/once", "cli/question_screen", "mcp/hostile", "mcp/run.py",
                     "mcp/watch", "supervise/two_runs")
# About ioctls that ext4 has and memory has not.
ON_DISK = ("enforce/fds", "enforce/ioctls", "enforce/metadata", "supervise/everyday")
# Repeated with the sanitizers, for the account that started us.
SANITIZED = ("mcp/consent.py", "mcp/files.py", "mcp/protocol.py", "mcp/run.py")
# The same whoever runs them: once, as the ordinary user.
# - about texts, protocols, keys, and an asker without a sandbox;
# - about what the guard says of names and contents.  It looks at who runs it in four places (guard/repository.c,
#   judge/followed.c, seal.c, system_ends.c), and what holds those is run by both (guard, obeyed, home_links, followed, shown), as
#   is a program of git's daily work (git_daily);
# - about hosts and proxies: what speaks with them looks at nobody's number.  The namespaces and the filter of the gate, which
#   take other rights as root, are held by network, network_gate and connects, which both run;
# - about paths and grants.  supervise asks who runs it where namespaces and capabilities are (linux_birth.c: enforce/, fast, swapped,
#   killed), about set-user-ID bits (linux_call.c: bits, fast), about owners (linux_land.c, linux_perform.c, linux_reopen.c,
#   linux_staged.c: differ, everyday, deep, guard, swapped): both run those.
ONCE = ("cli/arguments.py", "cli/canonical.py", "cli/dotenv_readers.py", "cli/hook.py", "cli/linked_rules.py", "cli/log.py",
        "cli/macos.py", "cli/network_consent.py", "cli/network_rules.py", "cli/once.py", "cli/policy_text.py", "cli/profiles.py",
        "cli/prompt.py", "cli/question_screen.py", "cli/remedies.py", "cli/rule_files.py", "cli/terminal_asker.py",
        "cli/terminal_keys.py", "cli/told.py", "cli/told_screen.py", "cli/typos.py", "cli/variables.py", "cli/zone_git_far.py",
        "mcp/clients.py", "supervise/sqlite_journal.py", "supervise/hg_journal.py", "supervise/hg_subs.py", "supervise/git_directories.py",
        "supervise/agent_settings.py", "supervise/deep_links.py",
        "supervise/git_alternates.py", "supervise/git_autostash.py", "supervise/git_common.py", "supervise/git_files.py", "supervise/renamed.py", "supervise/git_index.py",
        "supervise/git_keys.py", "supervise/git_links.py", "supervise/git_packs.py", "supervise/git_rebase.py",
        "supervise/git_session.py", "supervise/git_temporary.py", "supervise/git_told.py", "supervise/git_unnamed.py",
        "supervise/git_upkeep.py", "supervise/git_urls.py", "supervise/grants.py", "supervise/hidden_names.py",
        "supervise/ignored.py", "supervise/later_names.py", "supervise/moved.py", "supervise/network_attacks.py",
        "supervise/other_vcs.py", "supervise/proxy.py", "supervise/soak.py")
# Of these root runs only the tests whose names hold a word, beside the ordinary user who runs all that it can: what only root can do,
# and what chooses at random by who runs it.  What is left out: races of two runs, by time and names; what bash and shfmt read.
AS_ROOT = {"cli/preview.py": ("commands change",)}
if os.path.exists("/dev/loop-control"):
    AS_ROOT["supervise/two_runs.py"] = ("dead file system",)
# What takes longest (--times: with a processor, of those that wait by the clock), by that: it begins first.
LONGEST = (
    "supervise/differ.py", "mcp/parity.py", "cross compilation for macOS", "supervise/guard.py", "windows",
    "cross compilation", "supervise/obeyed.py", "supervise/fast.py", "supervise/swapped.py", "supervise/git_upkeep.py",
    "unit-files_attacks asan", "supervise/git_session.py", "enforce/tmp.py", "enforce/paths.py", "supervise/git_files.py",
    "supervise/storm.py", "enforce/ioctls.py", "unit-ignore", "mcp/clients.py", "supervise/git_common.py", "cli/macos.py",
    "enforce/writes.py", "supervise/git_daily.py", "supervise/network_attacks.py", "unit-files_attacks",
    "supervise/home_links.py", "cli/tool_profiles.py", "cli/remedies.py", "supervise/network_gate.py",
    "supervise/git_unnamed.py", "supervise/network.py", "supervise/agent_settings.py", "enforce/secrets.py",
    "enforce/fallback.py", "enforce/namespaces.py", "supervise/programs.py", "unit-monotone asan", "enforce/root.py",
    "enforce/processes.py", "cli/zone_git.py", "cli/preview.py", "cli/profiles.py", "enforce/paths.py --static",
    "unit-git_index asan", "unit-ignore asan", "enforce/fds.py", "enforce/ioctls.py --static", "supervise/git_index.py",
    # of those that wait
    "cli/consent.py", "enforce/consent_forgery.py", "supervise/two_runs.py", "enforce/consent_tmux.py",
    "cli/terminal_asker.py", "supervise/shown.py", "cli/watch.py", "cli/terminal_keys.py", "supervise/noticed.py",
    "cli/once.py", "cli/guard_consent.py", "enforce/consent_around.py", "cli/question_screen.py", "cli/consent_jobs.py",
    "cli/attach.py", "cli/network_consent.py", "enforce/terminals.py")
# A look at everything, in under a minute: what is quick, and of the rest a promise of each kind.
QUICK = ("cli/arguments.py", "cli/canonical.py", "cli/environment.py", "cli/examples.py", "cli/status.py", "cli/texts.py",
         "cli/within.py", "enforce/commands.py", "enforce/guard.py", "enforce/nested.py", "enforce/sockets.py",
         "files/errors.py", "mcp/confined.py", "mcp/files.py", "mcp/rules.py", "mcp/shown.py", "supervise/absent.py",
         "supervise/git_told.py", "supervise/hidden.py", "supervise/later_names.py", "supervise/places.py")
SLOW_UNITS = ("unit-chain", "unit-files_attacks", "unit-ignore")
