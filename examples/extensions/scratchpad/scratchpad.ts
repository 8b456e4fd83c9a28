// A scratchpad for zot: notes that the user writes with commands and the model
// reads and writes with a tool. This file runs as it is; run.mjs takes the
// types out while it loads.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

type Frame = { type: string; id?: string; [field: string]: unknown };
type Note = { text: string; by: "user" | "model" };
type Result = { content: { type: "text"; text: string }[]; is_error?: boolean };

let file = "scratchpad.json";
let notes: Note[] = [];

const send = (frame: Frame): boolean => process.stdout.write(JSON.stringify(frame) + "\n");
const text = (s: string, is_error = false): Result => ({ content: [{ type: "text", text: s }], is_error });
const list = (): string => notes.map((n, i) => `${i + 1}. ${n.text} (${n.by})`).join("\n") || "the scratchpad is empty";

function open(dir: string): void {
  file = join(dir, "scratchpad.json");
  if (existsSync(file)) notes = JSON.parse(readFileSync(file, "utf8")) as Note[];
}

function add(note: Note): void {
  notes.push(note);
  writeFileSync(file + ".new", JSON.stringify(notes, null, 2), { mode: 0o600 });
  renameSync(file + ".new", file); // never half a file
}

function command(name: string, args: string): object {
  if (name === "notes") return { action: "display", display: list() };
  if (!args) return { action: "noop", error: "write something: /note TEXT" };
  add({ text: args, by: "user" });
  return { action: "display", display: `noted as number ${notes.length}` };
}

function tool(args: { action?: unknown; text?: unknown }): Result {
  if (args.action === "list") return text(list());
  if (args.action !== "add" || typeof args.text !== "string" || !args.text) {
    return text('give {"action":"list"} or {"action":"add","text":"…"}', true);
  }
  add({ text: args.text, by: "model" });
  return text(`noted as number ${notes.length}`);
}

function register(): void {
  send({ type: "register_command", name: "note", description: "write into the scratchpad" });
  send({ type: "register_command", name: "notes", description: "show the scratchpad" });
  send({
    type: "register_tool",
    name: "scratchpad",
    description: "Short notes that you share with the user and that outlast this conversation.",
    schema: {
      type: "object",
      properties: { action: { enum: ["add", "list"] }, text: { type: "string" } },
      required: ["action"],
    },
  });
  send({ type: "ready" });
}

// handle answers one frame. A failure is an answer, too: nobody waits in vain.
function handle(frame: Frame): void {
  const { id } = frame;
  try {
    if (frame.type === "hello_ack") {
      open(String(frame.data_dir));
      register();
    } else if (frame.type === "command_invoked") {
      send({ type: "command_response", id, ...command(String(frame.name), String(frame.args ?? "")) });
    } else if (frame.type === "tool_call") {
      send({ type: "tool_result", id, ...tool(frame.args as object) });
    }
  } catch (err) {
    const message = (err as Error).message;
    if (frame.type === "command_invoked") send({ type: "command_response", id, action: "noop", error: message });
    else if (frame.type === "tool_call") send({ type: "tool_result", id, ...text(message, true) });
    else throw err;
  }
}

send({ type: "hello", name: "scratchpad", version: "1.0.0", capabilities: ["commands", "tools"] });

for await (const line of createInterface({ input: process.stdin })) {
  const frame = JSON.parse(line) as Frame;
  if (frame.type === "shutdown") {
    send({ type: "shutdown_ack" });
    break;
  }
  handle(frame);
}
