// Checks the request that a program would have sent after resuming a session.
//
//   node request.mjs STDERR_FILE READER [TEXT…]
//
// With an empty script of responses both programs print "got request:" and the request. It must
// contain every TEXT, in order, must not contain a text that is written `not:TEXT`, and must obey
// the rules that the vendors enforce. READER is `pollux` or `original`: the original 0.61 sends a
// resumed tool response twice, which is not an error here.
import { readFileSync } from 'node:fs';

const [file, reader, ...texts] = process.argv.slice(2);

function fail(message) {
  console.error(`${file}: ${message}`);
  process.exit(1);
}

function requestIn(output) {
  const mark = output.indexOf('got request:');
  if (mark < 0) fail('no request was printed');
  const rest = output.slice(output.indexOf('{', mark));
  // The request is the longest run of lines that can be parsed, because it may be pretty-printed.
  const lines = rest.split('\n');
  for (let count = lines.length; count > 0; count--) {
    try {
      return JSON.parse(lines.slice(0, count).join('\n'));
    } catch {
      // Other messages follow the request; try again without the last line.
    }
  }
  return fail('the printed request is not JSON');
}

const { contents } = requestIn(readFileSync(file, 'utf8'));
if (!Array.isArray(contents)) fail('the request has no contents');

let from = 0;
for (const text of texts) {
  if (text.startsWith('not:')) {
    if (JSON.stringify(contents).includes(text.slice(4))) fail(`${JSON.stringify(text.slice(4))} is there`);
    continue;
  }
  const index = contents.findIndex((content, i) => i >= from && JSON.stringify(content.parts).includes(text));
  if (index < 0) fail(`${JSON.stringify(text)} is missing, or out of order`);
  from = index;
}

const calls = (content) => content.parts.filter((part) => part.functionCall).map((part) => part.functionCall);
const responses = (content) =>
  content.parts.filter((part) => part.functionResponse).map((part) => part.functionResponse);
contents.forEach((content, index) => {
  if (content.role !== (index % 2 === 0 ? 'user' : 'model')) fail(`content ${index} breaks the alternation of roles`);
  const answered = index + 1 < contents.length ? responses(contents[index + 1]) : [];
  for (const call of calls(content)) {
    const count = answered.filter((response) => response.name === call.name && response.id === call.id).length;
    if (count === 0) fail(`the call of ${call.name} in content ${index} has no response`);
    if (count > 1 && reader === 'pollux') fail(`the call of ${call.name} in content ${index} has ${count} responses`);
  }
  const asked = index > 0 ? calls(contents[index - 1]) : [];
  for (const response of responses(content)) {
    if (!asked.some((call) => call.name === response.name)) fail(`a response in content ${index} has no call`);
  }
});
if (contents.at(-1)?.role !== 'user') fail('the last content is not the user\'s');
