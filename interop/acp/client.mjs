// A client of the Agent Client Protocol on the published TypeScript SDK. Follows a script and records
// everything that arrives.
//
//     node client.mjs SDK < SCRIPT > RECORDING
//
// SDK is the module's path. The script is one JSON object: see `Script` in `acp_case.py`. The recording
// is one JSON object per line: `in` and `out` are messages from and to the agent, `step` starts a step,
// `rejected` is a message that the SDK does not accept, `end` has the end of the agent.

import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const acp = await import(pathToFileURL(process.argv[2]));
const script = JSON.parse(readFileSync(0, "utf8"));
const LIMIT = script.seconds * 1000;

const arrivals = [];
let wake = () => {};

function record(kind, value) {
  writeSync(1, JSON.stringify({ [kind]: value }) + "\n");
  if (kind === "in") {
    arrivals.push(value);
    wake();
  }
}

// The SDK reports what it does not accept on the console.
for (const name of ["error", "warn"]) {
  console[name] = (...values) => record("rejected", values.map(text).join(" "));
}
function text(value) {
  return value instanceof Error ? String(value) : typeof value === "string" ? value : JSON.stringify(value);
}

// Records the messages that pass.
function recorded(kind) {
  return new TransformStream({
    transform(message, controller) {
      record(kind, message);
      controller.enqueue(message);
    },
  });
}

function connect(child) {
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const sent = recorded("out");
  // An agent that has ended reads nothing.
  sent.readable.pipeTo(stream.writable).catch(() => {});
  return { readable: stream.readable.pipeThrough(recorded("in")), writable: sent.writable };
}

// Returns the lines of the output that are not JSON.
function strayLines(printed) {
  const isStray = (line) => {
    try {
      return JSON.parse(line) === undefined;
    } catch {
      return true;
    }
  };
  return printed.split("\n").filter((line) => line && isStray(line));
}

// ---- The editor: permissions, buffers and questions

const permissions = [...script.permissions];
const elicitations = [...script.elicitations];
const buffers = new Map(Object.entries(script.buffers));

let waiting = () => {};

async function permission({ params }) {
  const wanted = permissions.shift() ?? "reject_once";
  if (wanted === "wait") await new Promise((resolve) => { waiting = resolve; });
  const option = params.options.find((one) => one.kind === wanted);
  return { outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" } };
}

function read({ params }) {
  let content = buffers.get(params.path);
  if (content === undefined) {
    try {
      content = readFileSync(params.path, "utf8");
    } catch {
      throw new acp.RequestError(-32002, `Resource not found: ${params.path}`);
    }
  }
  const all = content.split(/(?<=\n)/);
  const start = Math.max((params.line ?? 1) - 1, 0);
  return { content: all.slice(start, params.limit == null ? undefined : start + params.limit).join("") };
}

function write({ params }) {
  buffers.set(params.path, params.content);
  return {};
}

function elicit() {
  const answer = elicitations.shift();
  return answer ? { action: "accept", content: answer } : { action: "cancel" };
}

const { methods } = acp;

function app() {
  return acp
    .client({ name: "interop" })
    .onRequest(methods.client.session.requestPermission, permission)
    .onRequest(methods.client.fs.readTextFile, read)
    .onRequest(methods.client.fs.writeTextFile, write)
    .onRequest(methods.client.elicitation.create, elicit)
    .onNotification(methods.client.session.update, () => {});
}

// ---- The script

const saved = {};
const background = {};

function filled(value) {
  if (typeof value === "string") return value.replace(/\$(\w+)/g, (all, name) => saved[name] ?? all);
  if (Array.isArray(value)) return value.map(filled);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one)]));
}

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing for ${script.seconds} s`)), LIMIT);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function matches(message, wanted) {
  if (typeof wanted !== "object" || wanted === null) return message === wanted;
  return Object.entries(wanted).every(([key, one]) => message?.[key] !== undefined && matches(message[key], one));
}

async function until(step, seen) {
  const wanted = filled(step.until);
  while (arrivals.slice(seen).filter((message) => matches(message, wanted)).length < (step.count ?? 1)) {
    await within(new Promise((resolve) => { wake = resolve; }), `until ${JSON.stringify(wanted)}`);
  }
}

async function request(agent, step) {
  try {
    const result = await agent.request(step.method, filled(step.params));
    for (const [name, field] of Object.entries(step.save ?? {})) saved[name] = result[field];
  } catch (error) {
    // Errors of the agent are in the recording; others are the SDK's.
    if (!(error instanceof acp.RequestError)) throw error;
  }
}

async function run(agent, step, number) {
  const seen = arrivals.length;
  record("step", number);
  if (step.background) background[step.background] = request(agent, step);
  else if (step.notify) {
    await agent.notify(step.method, filled(step.params));
    if (step.method === methods.agent.session.cancel) waiting();
  } else if (step.method) await within(request(agent, step), step.method);
  if (step.finish) await within(background[step.finish], step.finish);
  if (step.until) await until(step, step.method ? seen : 0);
  if (step.pause) await new Promise((resolve) => setTimeout(resolve, step.pause));
}

// Starts an agent, makes the steps up to the next `restart`, and ends it.
async function life(steps, offset) {
  const child = spawn(script.agent[0], script.agent.slice(1), {
    cwd: script.folder,
    env: script.environment,
    stdio: ["pipe", "pipe", "pipe"],
  });
  const [printed, errors] = [[], []];
  child.stdout.on("data", (data) => printed.push(data));
  child.stderr.on("data", (data) => errors.push(data));
  child.stdin.on("error", () => {});
  const ended = new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
  let problem;
  try {
    await app().connectWith(connect(child), async (agent) => {
      for (const [number, step] of steps.entries()) await run(agent, step, offset + number);
    });
  } catch (error) {
    problem = text(error);
  }
  child.stdin.end();
  const kill = setTimeout(() => child.kill("SIGKILL"), LIMIT);
  const exit = await ended;
  clearTimeout(kill);
  const stray = strayLines(Buffer.concat(printed).toString());
  const stderr = Buffer.concat(errors).toString();
  record("end", { exit, problem, stray, buffers: Object.fromEntries(buffers), stderr });
}

for (let start = 0; start <= script.steps.length; ) {
  let end = start;
  while (end < script.steps.length && !script.steps[end].restart) end += 1;
  await life(script.steps.slice(start, end), start);
  if (end < script.steps.length) execFileSync("sh", ["-c", script.steps[end].restart]);
  start = end + 1;
}
process.exit(0);
