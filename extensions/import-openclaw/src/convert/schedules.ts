import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { scheduleChannelId } from '../carried/schedules.js';
import type { Schedule } from '../carried/settings.js';
import { isRecord, Node, pathText } from '../source/node.js';
import { readState } from '../state/paired.js';
import { workspaceOf } from '../state/prompts.js';
import { agentIdOf, agentsOf, type Draft, defaultAgentOf, placeOf } from './draft.js';

/** The text by which an agent says that there is nothing to say. */
const nothing = 'HEARTBEAT_OK';

/** Converts cron jobs and heartbeats. */
export function convertSchedules(draft: Draft): void {
  const schedules = [...heartbeats(draft), ...jobs(draft)];
  if (schedules.length === 0) return;
  draft.carried.schedules = schedules;
  draft.channels.push(scheduleChannelId);
}

const units: Readonly<Record<string, number>> = {
  ms: 1 / 60_000,
  s: 1 / 60,
  m: 1,
  h: 60,
  d: 1_440,
};

function heartbeats(draft: Draft): readonly Schedule[] {
  const { root, report } = draft;
  const agents = agentsOf(root);
  const own = agents.filter(({ node }) => node.get('heartbeat').isThere);
  // if an agent has a heartbeat of its own, those alone have one that do
  const beating = own.length > 0 ? own : agents.filter(({ id }) => id === defaultAgentOf(root));
  return beating.flatMap(({ id, node }) => {
    const of = (key: string): Node =>
      (node.get('heartbeat', key).isThere ? node : root.get('agents', 'defaults')).get(
        'heartbeat',
        key,
      );
    const [, count, unit = 'm'] = /^(\d+)(ms|s|m|h|d)?$/.exec(of('every').text() ?? '') ?? [];
    const cron = cronOf(Number(count) * (units[unit] ?? 0));
    if (of('every').isThere && cron === undefined)
      report.note(of('every').path, 'not supported', 'No cron expression has this interval.');
    if (cron === undefined) return [];
    const file = join(workspaceOf(draft, node, id), 'HEARTBEAT.md');
    const asked = of('prompt').text() ?? `Does something need attention? If not, say ${nothing}.`;
    const text = existsSync(file) ? `${asked}\n\n${readFileSync(file, 'utf8')}` : asked;
    const to = addressOf(of('target'), of('to'), of('accountId'));
    const at = { agentId: id, sessionKey: mainKeyOf(draft, id) };
    return [{ name: `heartbeat-${id}`, cron, ...at, text, silent: nothing, ...to }];
  });
}

/** The cron expression of an interval in minutes that divides the hour or the day. */
function cronOf(minutes: number): string | undefined {
  if (minutes >= 1 && 60 % minutes === 0)
    return minutes === 60 ? '0 * * * *' : `*/${minutes} * * * *`;
  const hours = minutes / 60;
  if (!(hours >= 1) || 24 % hours !== 0) return undefined;
  return hours === 24 ? '0 0 * * *' : `0 */${hours} * * *`;
}

function addressOf(target: Node, address: Node, account: Node): Pick<Schedule, 'to'> {
  const [channel, to, accountId] = [target.text(), address.text(), account.text()];
  if (channel === undefined || channel === 'last' || to === undefined) return {};
  return { to: { channel, to, ...(accountId !== undefined && { accountId }) } };
}

function mainKeyOf({ root }: Draft, agentId: string): string {
  return `agent:${agentId}:${root.get('session', 'mainKey').text() ?? 'main'}`.toLowerCase();
}

/** The jobs of `cron/jobs.json`, each with a line in the report. */
function jobs(draft: Draft): readonly Schedule[] {
  const { root, moved } = draft;
  const store = placeOf(draft, root.get('cron', 'store').text() ?? 'cron/jobs.json');
  const file = relative(draft.folder, store);
  if (root.get('cron', 'store').isThere && !existsSync(store))
    draft.broken.push(`${file}: it is not there`);
  const stored = readState(draft, file);
  const listed: readonly unknown[] =
    isRecord(stored) && Array.isArray(stored['jobs']) ? stored['jobs'] : [];
  const made = new Map<string, Schedule>();
  for (const [at, value] of listed.entries()) {
    const job = new Node(value, ['jobs', at], root.reading);
    const isOff = [root.get('cron'), job].some((one) => one.get('enabled').flag() === false);
    const schedule = isOff ? 'it is switched off' : scheduleOf(draft, job);
    const why = typeof schedule === 'string' ? schedule : undefined;
    if (typeof schedule !== 'string') made.set(schedule.name, schedule);
    moved.set(
      `${file}:${pathText(job.path)}`,
      why === undefined ? 'A schedule.' : `No schedule: ${why}.`,
    );
  }
  return [...made.values()];
}

/** Makes the schedule of a job, or says why there is none. */
function scheduleOf(draft: Draft, job: Node): Schedule | string {
  const [id, when, delivery] = [
    job.get('id').text() ?? '',
    job.get('schedule'),
    job.get('delivery'),
  ];
  const agentId = agentIdOf(job.get('agentId').text() ?? defaultAgentOf(draft.root));
  const cron = when.get('expr').text() ?? cronOf((when.get('everyMs').number() ?? 0) / 60_000);
  const at = when.get('at').text();
  const text = job.get('payload', 'message').text() ?? job.get('payload', 'text').text();
  if (cron === undefined && at === undefined) return 'no cron expression has its interval';
  if (text === undefined || id === '') return 'it has no id or no text';
  const mode = delivery.get('mode').text();
  if (mode === 'webhook') return 'no webhook is called';
  const timeZone = when.get('tz').text();
  const isMain = job.get('sessionTarget').text() === 'main';
  return {
    name: `cron-${id}`,
    ...(cron === undefined ? { at: at ?? '' } : { cron }),
    ...(timeZone !== undefined && { timeZone }),
    agentId,
    sessionKey: isMain ? mainKeyOf(draft, agentId) : `agent:${agentId}:cron:${id}`.toLowerCase(),
    text,
    ...(mode !== 'none' &&
      addressOf(delivery.get('channel'), delivery.get('to'), delivery.get('accountId'))),
  };
}
