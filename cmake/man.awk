# SPDX-License-Identifier: Apache-2.0
# man.awk - a manual page of what a program answers to --help; -v program=NAME -v version=TEXT
function escape(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    return text ~ /^[.']/ ? "\\&" text : text
}

function section(name) {
    if (name != in_section)
        print ".SH " name
    in_section = name
}

# A program says what it is in its first sentence.
function begin(text) {
    sub(/\.( .*)?$/, "", text)
    print ".TH " toupper(program) " 1 \"\" \"ringbench " version "\" \"User Commands\""
    print ".SH NAME\n" escape(program " - " tolower(substr(text, 1, 1)) substr(text, 2))
    print ".SH SYNOPSIS\n" escape(usage)
}

function flush() {
    if (!paragraph)
        return
    if (!has_begun++)
        begin(paragraph)
    section(has_items ? "NOTES" : "DESCRIPTION")
    print ".PP\n" escape(paragraph)
    paragraph = ""
}

/^usage: / { usage = substr($0, 8); next }
/^ *$/ { flush(); next }
# "  --name VALUE  what it is", "  command WORDS  ...", "VARIABLE  ..."
match($0, /^(  )?[^ ]+( [^ ]+)*   *[^ ]/) && /^(  [^ ]|[A-Z_]+  )/ {
    flush()
    has_items = 1
    section(/^  --/ ? "OPTIONS" : /^ / ? "COMMANDS" : "ENVIRONMENT")
    item = substr($0, 1, RLENGTH - 1)
    gsub(/^ +| +$/, "", item)
    print ".TP\n.B " escape(item) "\n" escape(substr($0, RLENGTH + RSTART - 1))
    next
}
# What goes on in the next line, or an item whose text stands there.
/^     / { sub(/^ +/, ""); print escape($0); next }
/^ / { sub(/^ +/, ""); print ".TP\n.B " escape($0); next }
{ paragraph = paragraph (paragraph ? " " : "") $0 }
END { flush(); print ".SH SEE ALSO\n" see }
