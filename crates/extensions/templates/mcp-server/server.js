// A server of the Model Context Protocol with one tool, without dependencies. It reads one JSON
// message per line from standard input, and writes one per line to standard output.
const readline = require('node:readline');

const TOOLS = [
  {
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
    annotations: { readOnlyHint: true },
  },
];

function answer(method, params) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'example', version: '1.0.0' },
      };
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: TOOLS };
    case 'tools/call': {
      const { a, b } = params.arguments;
      return { content: [{ type: 'text', text: String(a + b) }] };
    }
    default:
      return undefined;
  }
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  // A message without an id is a notification, which has no answer.
  if (id === undefined) return;
  const result = answer(method, params ?? {});
  const error = { code: -32601, message: `Unknown method: ${method}` };
  const message = { jsonrpc: '2.0', id, ...(result ? { result } : { error }) };
  process.stdout.write(JSON.stringify(message) + '\n');
});
