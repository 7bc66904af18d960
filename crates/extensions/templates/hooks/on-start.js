// Gets the event as JSON on standard input, and answers with JSON on standard output.
let input = '';
process.stdin.on('data', (chunk) => (input += chunk));
process.stdin.on('end', () => {
  const event = JSON.parse(input);
  const systemMessage = `Session ${event.session_id} has started in ${event.cwd}.`;
  process.stdout.write(JSON.stringify({ systemMessage }));
});
