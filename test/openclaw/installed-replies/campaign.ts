import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { checkOrdering } from '../../../src/claude/index.js';
import type { SessionEvent } from '../../../src/sdk/stream/index.js';
import type { CampaignReport, ProgramReport, TextReport } from './campaign-report.js';
import { Comparer } from './compare.js';
import { erroredText } from './drive-ours.js';
import { driveReal } from './drive-real.js';
import { replyProgram, unrulyProgram } from './program-arbitrary.js';
import { loadRealModule, type RealModule } from './real-module.js';
import {
  plainHost,
  type RecordedRun,
  recordedPrograms,
  recordedRuns,
} from './recorded-programs.js';
import type { ReplyProgram } from './reply-program.js';

const { OPENCLAW_CHUNK: chunk = '', REPLY_SEED: seed = '0', REPLY_RUNS: runs = '0' } = process.env;
const [, , reportFile = ''] = process.argv;
const settingsForEachRecording = 12;

Date.now = () => 1_000; // both sides tell the time; it is the same for both
console.log = console.info = console.warn = console.error = () => undefined; // the real one writes a line for each error

/** The settings that were met, of those that have to be. */
const settings = new Set<string>();
const real = await loadRealModule(chunk);
const comparer = new Comparer(real);
const recorded = await recordedRuns();
const report: CampaignReport = {
  generated: await generated(replyProgram, Number(runs), false),
  unruly: await generated(unrulyProgram, Math.ceil(Number(runs) / 4), true),
  recorded: await recordings(recorded),
  texts: await texts(real, recorded),
  uses: Object.fromEntries(comparer.uses),
  settings: settings.size,
};
writeFileSync(reportFile, JSON.stringify(report));
process.exit(0); // the real one leaves handles open

/** Compares generated programs; the first that differs is made as small as it can be. */
async function generated(
  programs: fc.Arbitrary<ReplyProgram>,
  numRuns: number,
  isUnruly: boolean,
): Promise<ProgramReport> {
  let same = 0;
  let compared = 0;
  let disordered = 0;
  const property = fc.asyncProperty(programs, async (program) => {
    const violation = violationIn(program.events);
    if (violation !== undefined) disordered++;
    if (!isUnruly && violation !== undefined) throw new Error(violation);
    if (!isUnruly) settings.add(settingOf(program));
    const { isSame, mismatch } = await comparer.compare(program);
    compared++;
    if (isSame) same++;
    if (mismatch !== undefined) throw new Error(JSON.stringify(mismatch, undefined, 2));
  });
  const details = await fc.check(property, { numRuns, seed: Number(seed) });
  if (!details.failed) return { compared, same, disordered };
  return {
    compared,
    same,
    disordered,
    failure: { program: details.counterexample?.[0], why: String(details.errorInstance) },
  };
}

function settingOf({ setting }: ReplyProgram): string {
  const { blockReplyChunking: cut, verboseLevel, reasoningMode, blockReplyBreak, flush } = setting;
  const chunking = cut === undefined ? 'off' : (cut.breakPreference ?? 'paragraph');
  return [verboseLevel, reasoningMode, blockReplyBreak, chunking, flush].join(' ');
}

/** What is wrong with the order of a session's events. A run that is tried again is two runs. */
function violationIn(events: readonly SessionEvent[]): string | undefined {
  const runs: SessionEvent[][] = [[]];
  for (const event of events) {
    runs.at(-1)?.push(event);
    if (event.type === 'agent_end') runs.push([]);
  }
  if (runs.length > 1 && runs.at(-1)?.length === 0) runs.pop();
  return runs.flatMap((run) => checkOrdering(run))[0]?.message;
}

async function recordings(recordedOnes: readonly RecordedRun[]): Promise<ProgramReport> {
  let same = 0;
  let compared = 0;
  for (const program of recordedPrograms(recordedOnes, settingsForEachRecording)) {
    const { isSame, mismatch } = await comparer.compare(program);
    compared++;
    if (isSame) same++;
    const why = violationIn(program.events) ?? (mismatch && JSON.stringify(mismatch, undefined, 2));
    if (why !== undefined) return { compared, same, disordered: 0, failure: { program, why } };
  }
  return { compared, same, disordered: 0 };
}

/** Returns whether a message says something, has a tool run, and says more: with tools of the provider's own servers it does. */
function hasToolInside(events: readonly SessionEvent[]): boolean {
  let hasTool = false;
  for (const event of events) {
    if (event.type === 'message_start') hasTool = false;
    if (event.type === 'tool_execution_start') hasTool = true;
    const isText =
      event.type === 'message_update' && event.assistantMessageEvent.type === 'text_delta';
    if (isText && hasTool) return true;
  }
  return false;
}

/** The texts of a message that ended with an error. */
function erroredTexts(event: SessionEvent): readonly string[] {
  if (event.type !== 'message_end' || event.message.role !== 'assistant') return [];
  const { stopReason, content } = event.message;
  if (stopReason !== 'error') return [];
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
}

/** What a host of the real one hands over of each recording, and keeps. */
async function texts(module: RealModule, all: readonly RecordedRun[]): Promise<TextReport[]> {
  const reports: TextReport[] = [];
  for (const { name, events, texts: visible } of all) {
    const trace = await driveReal(module, { events, setting: plainHost, feed: 'settled' });
    const blocks = trace.calls.filter(([call]) => call === 'onBlockReply');
    const handedOver = blocks.map(([, payload]) => (payload as { text: string }).text); // a block reply's
    const kept = trace.end['assistantTexts'] as readonly string[]; // as endOf says
    const errors = new Set(events.flatMap(erroredTexts));
    const said = visible.map((text) =>
      errors.has(text) ? (erroredText(module, text) ?? text) : text,
    );
    reports.push({ name, visible: said, handedOver, kept, hasToolInside: hasToolInside(events) });
  }
  return reports;
}
