"""Runs a command in a pseudo-terminal, answers its questions, and prints what the terminal showed.

Arguments: a JSON list of [question, answer] pairs, then the command line. Exits as the command does.
"""

import json
import os
import pty
import sys

dialogue = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])

shown = ""
answered = 0
while True:
    try:
        chunk = os.read(terminal, 4096)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk.decode("utf-8", "replace")
    if dialogue and dialogue[0][0] in shown[answered:]:
        answered = len(shown)
        os.write(terminal, (dialogue.pop(0)[1] + "\n").encode())

print(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
