import { type ComponentChildren, html, useEffect } from '../vendor/preact.js';
import { plain, Status, span, Text, Time, useLoaded, View } from './parts.js';
import type { Timeline } from './shapes.js';
import { StageDetails } from './stage-details.js';

/** One entry of the timeline: a bar from a time on, as long as it took. */
interface Entry {
  readonly key: string;
  readonly atMs: number;
  readonly tookMs: number;
  readonly tone: string;
  readonly label: ComponentChildren;
  readonly note: ComponentChildren;
  readonly details?: ComponentChildren;
  readonly isOpen?: boolean;
}

/** The timeline of one message: all that happened to it, in order, and why. */
export function Why({ id }: { readonly id: string }) {
  const { value: timeline, problem, again } = useLoaded<Timeline>('way', { id });
  useEffect(() => {
    if (timeline !== undefined)
      document.getElementById(`event-${id}`)?.scrollIntoView({ block: 'center' });
  }, [timeline, id]);
  if (timeline === undefined || timeline.correlationId === '')
    return html`<${View} title="Why" problem=${problem}>
      <p>${timeline === undefined ? 'Reading…' : 'The journal has nothing of this id.'}</p>
    <//>`;
  const entries = entriesOf(timeline, id);
  const from = Math.min(...entries.map((one) => one.atMs));
  const to = Math.max(...entries.map((one) => one.atMs + one.tookMs), from + 1);
  const { end, waitedMs, begun, missing } = timeline;
  return html`<${View} title="Why" problem=${problem}>
    <div class="bar">
      <span class="id"><${Text} of=${timeline.correlationId} /></span>
      ${end === undefined ? html`<${Status} of="open" />` : html`<${Status} of=${end.outcome ?? end.state} />`}
      ${end?.reason !== undefined && html`<span><${Text} of=${end.reason} /></span>`}
      <span class="quiet">
        took ${span(to - from)}, waited ${span(waitedMs)}${begun > 1 ? `, begun ${begun} times` : ''}
        ${missing > 0 ? `, ${missing} records are missing` : ''}
      </span>
      <button type="button" onClick=${again}>Read again</button>
    </div>
    <ol class="timeline">
      ${entries.map((entry) => html`<${Bar} key=${entry.key} entry=${entry} from=${from} to=${to} />`)}
    </ol>
  <//>`;
}

function entriesOf(timeline: Timeline, id: string): readonly Entry[] {
  const entries: Entry[] = [
    ...timeline.update.map((entry, at) => ({
      ...{ key: `update-${at}`, atMs: entry.atMs, tookMs: 0, tone: 'calm' },
      label: `message ${entry.state}`,
      note: html`${entry.outcome !== undefined && html`<${Status} of=${entry.outcome} /> `}<${Text}
          of=${entry.reason ?? entry.channel}
        />`,
    })),
    ...timeline.lanes.map(({ atMs, of, lane, waitedMs }, at) => ({
      ...{ key: `lane-${at}`, atMs: atMs - waitedMs, tookMs: waitedMs, tone: 'wait' },
      label: `waited for its ${of}`,
      note: html`${span(waitedMs)} <span class="quiet"><${Text} of=${lane} /></span>`,
    })),
    ...timeline.stages.map((stage) => ({
      ...{ key: stage.id, atMs: stage.atMs, tookMs: stage.tookMs, tone: stage.status },
      label: html`<span id=${`event-${stage.id}`}>${plain(stage.family)}</span>`,
      note: html`<${Status} of=${stage.status} />
        ${stage.status !== 'passed' && html`<span class="bad"><${Text} of=${stage.verdict} /></span>`}
        ${stage.tookMs > 0 ? span(stage.tookMs) : ''}`,
      details: html`<${StageDetails} stage=${stage} />`,
      isOpen: stage.id === id || stage.status !== 'passed' || stage.changes.length > 0,
    })),
    ...timeline.questions.map((entry) => ({
      ...{ key: `question-${entry.id}`, atMs: entry.atMs, tookMs: 0, tone: 'odd' },
      label: 'question',
      note: html`<${Status} of=${entry.state} /> <${Text} of=${entry.title} />`,
    })),
    ...timeline.sends.flatMap(({ id: sendId, last, attempts }) => [
      ...attempts.map(({ atMs, attempt, status, durationMs, reason }) => ({
        ...{
          key: `${sendId}-${attempt}`,
          atMs: atMs - durationMs,
          tookMs: durationMs,
          tone: 'send',
        },
        label: `attempt ${attempt}`,
        note: html`<${Status} of=${status} /> ${span(durationMs)} <${Text} of=${reason} />`,
      })),
      {
        ...{ key: `send-${sendId}`, atMs: last.atMs, tookMs: 0, tone: 'send' },
        label: `${last.sendKind ?? 'send'} ${last.state}`,
        note: html`<${Text} of=${[last.cause, last.reason].filter(Boolean).join(': ')} />`,
      },
    ]),
  ];
  return entries.sort((one, other) => one.atMs - other.atMs);
}

function Bar({
  entry,
  from,
  to,
}: {
  readonly entry: Entry;
  readonly from: number;
  readonly to: number;
}) {
  const { atMs, tookMs, tone, label, note, details, isOpen = false } = entry;
  const share = (ms: number): string => `${(100 * ms) / (to - from)}%`;
  const line = html`<${Time} ms=${atMs} /> <span class="name">${label}</span>
    <span class="track" aria-hidden="true"
      ><span
        class="fill ${tone}"
        style=${{ left: share(atMs - from), width: share(tookMs) }}
      ></span
    ></span>
    <span class="note">${note}</span>`;
  if (details === undefined) return html`<li class="entry">${line}</li>`;
  return html`<li>
    <details open=${isOpen}>
      <summary class="entry">${line}</summary>
      ${details}
    </details>
  </li>`;
}
