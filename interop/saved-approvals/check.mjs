// Compares the decisions of Gemini CLI from files of saved approvals with those of Pollux.
//
//   node check.mjs BUNDLE APPROVALS [--plant]
//
// BUNDLE is the folder of the installed program; its own policy engine reads each file from
// ~/.gemini/policies, as the program does when it starts. APPROVALS is the output of the example
// `saved_approvals`. Gemini CLI must not allow a call that Pollux asks about, unless it also allows
// the call without the file. It must allow the approved call, unless the case gives a reason. With
// --plant the files lack the quote that ends a command, and the check must detect that.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [bundle, approvalsFile, option] = process.argv.slice(2);
const LEAST_APPROVALS = 40;
const LEAST_VARIATIONS = 10;

function fail(message) {
  console.error(`saved-approvals: ${message}`);
  process.exit(1);
}

// The module that the program itself loads; the bundle has others that look the same.
const entry = readFileSync(join(bundle, 'gemini.js'), 'utf8');
const name = entry.match(/import\("\.\/(dist-[A-Z0-9]+\.js)"\)/)?.[1] ?? fail('the program loads no core');
const core = await import(pathToFileURL(join(bundle, name)).href);
for (const used of ['PolicyEngine', 'createPolicyEngineConfig', 'initializeShellParsers', 'coreEvents']) {
  if (!core[used]) fail(`the core does not export ${used}`);
}
// The engine prints each decision, and each line that it cannot parse.
const { log } = console;
console.debug = console.warn = console.log = () => {};
await core.initializeShellParsers();

const home = mkdtempSync(join(tmpdir(), 'saved-approvals-'));
process.on('exit', () => rmSync(home, { recursive: true, force: true }));
process.env.GEMINI_CLI_HOME = home;
const folder = join(home, '.gemini', 'policies');
mkdirSync(folder, { recursive: true });
// A line that no approval of another line may allow, in either program.
const NEVER = 'rm -rf src';
const complaints = [];
core.coreEvents.on('user-feedback', (event) => complaints.push(event.message));

// Returns an engine for each mode, created as in a start of the program with this file.
async function engines(text) {
  const file = join(folder, 'auto-saved.toml');
  if (text === undefined) rmSync(file, { force: true });
  else writeFileSync(file, text);
  const made = {};
  for (const mode of ['default', 'autoEdit', 'plan']) {
    const config = await core.createPolicyEngineConfig({}, mode, undefined, true);
    made[mode] = new core.PolicyEngine({ ...config, approvalMode: mode, isTrustedFolder: () => true });
  }
  return made;
}

const decide = async (made, probe) => {
  const call = { name: probe.tool, args: probe.args };
  return (await made[probe.mode].check(call, probe.server ?? undefined)).decision;
};

const plant = (text) => text.replace(/\\"\\\\x00"$/m, '"');

const approvals = JSON.parse(readFileSync(approvalsFile, 'utf8'));
const without = await engines(undefined);
const findings = [];
let probes = 0;
let allowed = 0;
for (const approval of approvals) {
  const label = `${approval.tool} ${JSON.stringify(approval.call)} saved as ${approval.scope}`;
  complaints.length = 0;
  const made = await engines(option === '--plant' ? plant(approval.file) : approval.file);
  if (complaints.length > 0) findings.push(`${label}: the file is not accepted: ${complaints.join(' ')}`);
  const variations = new Set(approval.probes.map((probe) => JSON.stringify([probe.tool, probe.server, probe.args])));
  const asksNever = approval.probes.some((probe) => probe.args.command === NEVER);
  if (approval.call.command && !asksNever) findings.push(`${label}: no probe is ${NEVER}`);
  if (variations.size <= LEAST_VARIATIONS) findings.push(`${label}: only ${variations.size - 1} variations`);
  for (const [index, probe] of approval.probes.entries()) {
    probes += 1;
    const decision = await decide(made, probe);
    const isApproved = index === 0;
    if (probe.args.command === NEVER && (decision === 'allow' || probe.decision === 'allow')) {
      findings.push(`${label}: ${NEVER} in ${probe.mode}: ${decision} there, ${probe.decision} here`);
    }
    if (isApproved && probe.mode !== 'default') fail('the first probe is not the approved call');
    if (isApproved && probe.decision !== 'allow') findings.push(`${label}: Pollux asks about it again`);
    if (isApproved && (decision === 'allow') !== !approval.asked) {
      findings.push(`${label}: ${decision} there, though the case says ${approval.asked ?? 'nothing of that'}`);
    }
    if (isApproved && decision === 'allow') allowed += 1;
    const isWider = decision === 'allow' && probe.decision !== 'allow';
    if (isWider && (await decide(without, probe)) !== 'allow') {
      const call = `${probe.tool} ${JSON.stringify(probe.args)} in ${probe.mode}`;
      findings.push(`${label}: WIDER: ${call} is allowed there, here ${probe.decision}`);
    }
  }
}
if (approvals.length < LEAST_APPROVALS) findings.push(`only ${approvals.length} approvals`);

if (option === '--plant') {
  const wider = findings.filter((finding) => finding.includes('WIDER')).length;
  if (wider === 0) fail('files without the closing quote pass for good ones');
  log(`saved-approvals: files without the closing quote: ${wider} calls are noticed`);
} else {
  findings.forEach((finding) => console.error(finding));
  log(
    `saved-approvals: ${approvals.length} approvals, ${allowed} allowed there, ${probes} decisions compared, ${findings.length} findings`,
  );
  if (findings.length > 0) process.exit(1);
}
