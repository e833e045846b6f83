import { scenarios } from './scenarios.mjs';
import { slope, targetsOf } from './targets.mjs';

/** A figure with as many digits as it deserves. */
function figure(value) {
  if (value === undefined || !Number.isFinite(value)) return '-';
  if (value >= 1_000) return Math.round(value).toLocaleString('en-US');
  return value >= 100 ? value.toFixed(0) : value.toFixed(1);
}

function ratio(value) {
  if (value === undefined || !Number.isFinite(value)) return '-';
  return `${value >= 10 ? value.toFixed(0) : value.toFixed(2)}x`;
}

/** The tables of a run: each a title, a head and rows of text. */
export function tablesOf(figures) {
  const tables = [];
  const names = Object.keys(Object.values(figures.scenarios)[0] ?? {});
  const cells = (by, read) => names.map((name) => read(by[name], by.floor));
  const perCall = scenarios.filter(({ id }) => figures.scenarios[id] !== undefined);
  if (perCall.length > 0) {
    const time = perCall.map(({ id, title }) => [
      title,
      ...cells(
        figures.scenarios[id],
        (own, floor) => `${figure(own.ns)} (${ratio(own.ns / floor.ns)})`,
      ),
    ]);
    for (const [prefix, what] of [
      ['observers', 'each further observer'],
      ['async-observers', 'each further async observer'],
      ['sync-mutators', 'each further mutator, sync-sequential'],
      ['mutators', 'each further mutator, sequential'],
      ['async-mutators', 'each further async mutator, sequential'],
    ]) {
      const base = slope(figures, prefix, 'floor');
      if (base === undefined) continue;
      const slopes = names.map((name) => slope(figures, prefix, name));
      time.push([what, ...slopes.map((own) => `${figure(own)} (${ratio(own / base)})`)]);
    }
    tables.push({
      title: 'Nanoseconds per dispatch (ratio to the floor)',
      head: ['', ...names],
      rows: time,
    });
    tables.push({
      title: 'Bytes per dispatch',
      head: ['', ...names],
      rows: perCall.map(({ id, title }) => [
        title,
        ...cells(figures.scenarios[id], (own) => figure(own.bytes)),
      ]),
    });
  }
  const growing = (title, by) => {
    const counts = Object.keys(by);
    if (counts.length === 0) return;
    const rows = Object.keys(by[counts[0]]).map((name) => [
      name,
      ...counts.map((count) => figure(by[count][name].ns)),
    ]);
    tables.push({ title, head: ['', ...counts], rows });
  };
  growing('Nanoseconds per dispatch, by handlers of the family', figures.handlers);
  growing('Nanoseconds per dispatch to 5 observers, by families that have some', figures.families);
  if (figures.registration !== undefined)
    tables.push({
      title: 'Registering 10,000 handlers on 100 families',
      head: ['', 'ms of CPU', 'bytes each', 'first dispatch, us'],
      rows: Object.entries(figures.registration).map(([name, own]) => [
        name,
        figure(own.registeredMs),
        figure(own.bytesEach),
        figure(own.firstDispatchUs),
      ]),
    });
  if (Object.keys(figures.promises).length > 0)
    tables.push({
      title:
        'Promises that one dispatch of Sluice makes, the returned one and those of async handlers among them',
      head: ['', 'promises'],
      rows: Object.entries(figures.promises).map(([id, made]) => [id, String(made)]),
    });
  const { parse } = figures.frames;
  if (parse !== undefined)
    tables.push({
      title: `Frames of a Claude Agent SDK stream (${parse.frames} recorded ones)`,
      head: ['', 'ns each', 'frames a second', 'to JSON.parse'],
      rows: Object.entries(figures.frames).map(([id, own]) => [
        id === 'parse' ? 'JSON.parse of their lines' : id,
        figure(own.ns),
        figure(1e9 / own.ns),
        ratio(own.ns / parse.ns),
      ]),
    });
  const { callbacks } = figures;
  if (callbacks !== undefined)
    tables.push({
      title: 'Reply callbacks: a reply in pieces of 4 characters',
      head: ['', 'ns a piece'],
      rows: [
        ['sluice, 32 KB', figure(callbacks.short)],
        ['sluice, 1 MB', figure(callbacks.long)],
        ['OpenClaw 2026.3.13, 32 KB', figure(callbacks.real)],
      ],
    });
  const targets = targetsOf(figures);
  if (targets.length > 0)
    tables.push({
      title: 'Targets',
      head: ['', 'measured', 'target', ''],
      rows: targets.map((row) => [
        row.what,
        `${figure(row.value)} ${row.unit}${row.note === '' ? '' : ` (${row.note})`}`,
        `${row.atLeast ? 'at least' : 'at most'} ${row.limit} ${row.unit}`,
        row.met ? 'ok' : 'MISSED',
      ]),
    });
  const missed = targets.filter(({ met }) => !met);
  if (missed.length > 0)
    tables.push({
      title: `Missed: ${missed.length} of ${targets.length} targets`,
      head: ['', 'measured', 'target'],
      rows: missed.map(({ what, value, unit, limit, atLeast }) => [
        what,
        `${figure(value)} ${unit}`,
        `${atLeast ? 'at least' : 'at most'} ${limit} ${unit}`,
      ]),
    });
  return tables;
}

/** One line that says what the figures are from. */
export function machineLine({ machine }) {
  const launches = `median of ${machine.launches} launch${machine.launches === 1 ? '' : 'es'}`;
  const load = machine.load.map((value) => value.toFixed(1)).join(' before, ');
  return `Node ${machine.node}, ${machine.cpus} CPUs (${machine.cpu}), ${launches}, load ${load} after`;
}
