#!/usr/bin/env python3
"""Talks with zot: each argument is one prompt of the same conversation."""
import json
import os
import subprocess
import sys

zot = subprocess.Popen([os.environ.get("ZOT", "zot"), "rpc"],
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")


def send(**command):
    zot.stdin.write(json.dumps(command) + "\n")
    zot.stdin.flush()


def ask(text):
    """Sends a prompt, shows the answer as it arrives, and says whether it went well."""
    send(id="ask", type="prompt", message=text)
    ok = True
    for line in zot.stdout:
        event = json.loads(line)
        kind = event["type"]
        if kind == "response" and not event["success"]:
            sys.exit("zot refused: " + event["error"])
        elif kind == "text_delta":
            print(event["delta"], end="", flush=True)
        elif kind == "error":
            ok = False
            print("error:", event["message"], file=sys.stderr)
        elif kind == "done":  # the last line of every prompt
            print()
            return ok
    sys.exit("zot is gone")


results = [ask(text) for text in sys.argv[1:]]
zot.stdin.close()  # no more prompts: zot leaves
sys.exit(zot.wait() or not all(results))
