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

const tones = { update: 'calm', lane: 'wait', question: 'odd', attempt: 'send', send: 'send' };

function entriesOf(timeline: Timeline, id: string): readonly Entry[] {
  const entries: Entry[] = [
    ...timeline.rows.map(({ kind, name, status, code, reason, sessionId, tookMs, atMs }, at) => ({
      ...{ key: `${kind}-${at}`, atMs: atMs - tookMs, tookMs, tone: tones[kind], label: name },
      note: html`${status !== undefined && html`<${Status} of=${status} /> `}${
        tookMs > 0 ? span(tookMs) : ''
      } <${Text} of=${[code, reason].filter(Boolean).join(': ')} />
        <span class="quiet"><${Text} of=${sessionId ?? undefined} /></span>`,
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
