"""errors.py - the codes of the file tools are documented, all of them and no others (F4)."""

import re

from tap import TOP, check, equal, run_all, test


@test("F4 every code is in docs/errors.md")
def codes(fx):
    header = (TOP / "include/sandbash/files.h").read_text()
    listed = re.search(r"enum sb_files_code \{(.*?)\};", header, re.S)[1]
    known = set(re.findall(r"\bSB_FILES_([A-Z_]+)\b(?=\s*[,=])", listed)) - {"OK", "CODE_COUNT"}
    text = (TOP / "docs/errors.md").read_text()
    section = text[text.index("## Codes of the file tools"):text.index("## Refusals inside")]
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", section, re.M))
    check(len(known) > 20)
    equal(documented, known)


run_all()
