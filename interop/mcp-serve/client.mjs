// A client on the published TypeScript SDK: uses Pollux as a server, and prints what it saw.
//
//   node client.mjs SDK PROGRAM ... < /dev/null > FACTS
//
// The environment and the working directory are those of the server.
import { pathToFileURL } from 'node:url';

const [sdk, command, ...args] = process.argv.slice(2);
const from = (path) => import(pathToFileURL(`${sdk}/dist/esm/${path}.js`).href);
const { Client } = await from('client/index');
const { StdioClientTransport } = await from('client/stdio');
const { ElicitRequestSchema } = await from('types');

const facts = { forms: [], progress: [], errors: [] };
const client = new Client({ name: 'interop', version: '0' }, { capabilities: { elicitation: { form: {} } } });
// A line that is no message, and an answer that nobody waits for. Progress may cross a cancellation.
let isCancelled = false;
client.onerror = (error) => {
  const isLate = isCancelled && String(error).includes('progress notification for an unknown token');
  if (!isLate) facts.errors.push(String(error));
};
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  const { choice } = params.requestedSchema.properties;
  facts.forms.push({ message: params.message, choices: choice.oneOf.map((option) => option.const) });
  return { action: 'accept', content: { choice: 'proceed_once' } };
});

// Calls a tool, and records its progress.
const call = (name, given, options = {}) =>
  client.callTool({ name, arguments: given }, undefined, {
    onprogress: ({ message }) => (options.onmessage ?? ((text) => facts.progress.push(text)))(message),
    ...options,
  });

await client.connect(new StdioClientTransport({ command, args, env: process.env, cwd: process.cwd(), stderr: 'inherit' }));
facts.server = client.getServerVersion().name;
// The SDK checks structured content against the schemas of the tools that it has listed.
facts.tools = (await client.listTools()).tools.map((tool) => tool.name);

facts.first = await call('pollux', { prompt: 'edit' });
const { session_id } = facts.first.structuredContent;
facts.second = await call('pollux-reply', { session_id, prompt: 'continue' });

const cancel = new AbortController();
const held = await new Promise((resolve, reject) => {
  const running = call('pollux', { prompt: 'hold' }, {
    signal: cancel.signal,
    onmessage: (message) => resolve({ session: message.replace('Session ID: ', ''), running }),
  });
  running.catch(reject);
});
// Until the request has reached the model.
await new Promise((resolve) => setTimeout(resolve, 500));
const before = performance.now();
isCancelled = true;
cancel.abort('enough');
facts.cancelled = await held.running.then(() => false, () => true);
facts.third = await call('pollux-reply', { session_id: held.session, prompt: 'after' });
facts.milliseconds = performance.now() - before;

await client.close();
console.log(JSON.stringify(facts));
