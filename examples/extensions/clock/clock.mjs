// A clock for zot in plain Node: no SDK, no packages.
import { createInterface } from "node:readline";

const send = (frame) => process.stdout.write(JSON.stringify(frame) + "\n");

function time(zone) {
  const options = { timeZone: zone || undefined, dateStyle: "medium", timeStyle: "medium" };
  return new Intl.DateTimeFormat("en-GB", options).format(new Date());
}

// Each command answers with an action and what goes with it.
const commands = {
  clock: {
    description: "show the time: /clock, or /clock Europe/Berlin",
    run: (zone) => ({ action: "display", display: `${zone || "here"}: ${time(zone)}` }),
  },
  stamp: {
    description: "insert the time into what you are writing",
    run: () => ({ action: "insert", insert: new Date().toISOString() }),
  },
};

function answer({ id, name, args = "" }) {
  try {
    send({ type: "command_response", id, ...commands[name].run(args) });
  } catch (err) {
    send({ type: "command_response", id, action: "noop", error: err.message });
  }
}

send({ type: "hello", name: "clock", version: "1.0.0", capabilities: ["commands"] });

for await (const line of createInterface({ input: process.stdin })) {
  const frame = JSON.parse(line);
  if (frame.type === "hello_ack") {
    for (const [name, { description }] of Object.entries(commands)) {
      send({ type: "register_command", name, description });
    }
    send({ type: "ready" });
  } else if (frame.type === "command_invoked") {
    answer(frame);
  } else if (frame.type === "shutdown") {
    send({ type: "shutdown_ack" });
    break;
  }
}
