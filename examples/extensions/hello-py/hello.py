#!/usr/bin/env python3
"""A slash command for zot, in plain Python: read a line, write a line."""
import json
import sys


def send(frame):
    print(json.dumps(frame), flush=True)  # one frame a line, and at once


def main():
    send({"type": "hello", "name": "hello-py", "version": "1.0.0", "capabilities": ["commands"]})
    for line in sys.stdin:
        frame = json.loads(line)
        kind = frame.get("type")
        if kind == "hello_ack":
            send({"type": "register_command", "name": "hellopy", "description": "have the model say hi"})
            send({"type": "ready"})
        elif kind == "command_invoked":
            who = frame.get("args", "me")  # absent where nothing was typed
            send({"type": "command_response", "id": frame["id"], "action": "prompt",
                  "prompt": f"Say hello to {who}, briefly."})
        elif kind == "shutdown":
            send({"type": "shutdown_ack"})
            return
        # Anything else is news from a later zot, and no concern of ours.


if __name__ == "__main__":
    main()
