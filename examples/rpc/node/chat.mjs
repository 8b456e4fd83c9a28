// Talks with zot: each argument is one prompt of the same conversation. zot asks before every tool call, and this
// program answers for its user: what only reads may run, all else may not.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const harmless = new Set(["read"]);

const zot = spawn(process.env.ZOT ?? "zot", ["rpc", "--no-yolo"], { stdio: ["pipe", "pipe", "inherit"] });
const ended = new Promise((resolve) => zot.on("close", resolve));
const send = (command) => zot.stdin.write(JSON.stringify(command) + "\n");

send({ type: "hello", capabilities: ["confirm"] });
const prompts = process.argv.slice(2);
for (const message of prompts) send({ type: "prompt", message }); // they wait for their turn
let open = prompts.length;
if (open === 0) zot.stdin.end();

for await (const line of createInterface({ input: zot.stdout })) {
  const event = JSON.parse(line);
  switch (event.type) {
    case "text_delta":
      process.stdout.write(event.delta);
      break;
    case "confirmation_request": {
      const answer = harmless.has(event.tool_name) ? "yes" : "no";
      console.log(`[${event.tool_preview}: ${answer}]`);
      send({ type: "confirm", request: event.id, answer, reason: "this program only lets you read" });
      break;
    }
    case "response":
    case "error":
      if (event.success) break;
      console.error("error:", event.error ?? event.message);
      process.exitCode = 1;
      break;
    case "done":
      process.stdout.write("\n");
      if (--open === 0) zot.stdin.end(); // all is answered: zot leaves
  }
}
if (await ended) process.exitCode = 1;
