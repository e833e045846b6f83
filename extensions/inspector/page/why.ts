import { type ComponentChildren, html, useEffect, useState } from '../vendor/preact.js';
import {
  counted,
  IdLink,
  plain,
  Said,
  Status,
  span,
  Text,
  Time,
  useLoaded,
  View,
} from './parts.js';
import type { Message, Stage, Timeline } from './shapes.js';
import { StageDetails } from './stage-details.js';
import { stateOf } from './states.js';

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
  /** Nothing happened in it. */
  readonly isQuiet?: boolean;
}

/** The page of one message: who wrote what, what came of it, and all that happened to it, in order, and why. */
export function Why({ id }: { readonly id: string }) {
  const { value: timeline, problem, again } = useLoaded<Timeline>('way', { id });
  const [isAll, setAll] = useState(false);
  const event = id === timeline?.correlationId ? '' : id; // the message has the id of its first event
  useEffect(() => {
    if (timeline !== undefined)
      document.getElementById(`event-${event}`)?.scrollIntoView({ block: 'center' });
  }, [timeline, event]);
  if (timeline === undefined)
    return html`<${View} title="Why" problem=${problem}><p>${problem === '' && 'Reading…'}</p><//>`;
  const { message, correlationId, untilMs, waitedMs, begun, missing } = timeline;
  const all = entriesOf(timeline, event);
  const from = Math.min(...all.map((one) => one.atMs));
  const to = Math.max(...all.map((one) => one.atMs + one.tookMs), untilMs, from + 1);
  const isOpen = message !== undefined && stateOf(message).isOpen;
  const quiet = all.filter(({ isQuiet }) => isQuiet).length;
  const shown = isAll ? all : all.filter(({ isQuiet }) => !isQuiet);
  return html`<${View} title="Why" problem=${problem}>
    ${message !== undefined && html`<${Head} message=${message} />`}
    <div class="bar">
      <span class="quiet">${isOpen ? 'open for' : 'took'} ${span(to - from)}${waitedMs < 1 ? '' : `, waited ${span(waitedMs)}`}${
        begun > 1 ? `, begun ${begun} times` : ''
      }${missing > 0 ? `, ${counted(missing, 'record')} missing` : ''}</span>
      <${IdLink} id=${correlationId} />
      ${
        quiet > 0 &&
        html`<button type="button" aria-pressed=${isAll} onClick=${() => setAll(!isAll)}>
          ${isAll ? 'Hide' : 'Show'} ${counted(quiet, 'stage')} in which nothing happened
        </button>`
      }
      <button type="button" onClick=${again}>Read again</button>
    </div>
    <ol class="timeline">
      ${shown.map((entry) => html`<${Bar} key=${entry.key} entry=${entry} from=${from} to=${to} />`)}
    </ol>
  <//>`;
}

/** The writer, what was said, what came of it, and what an operator can do now. */
function Head({ message }: { readonly message: Message }) {
  const { state, question } = message;
  const { words, why, tone } = stateOf(message);
  const isAsked = question?.state === 'pending' && question.of === 'approval';
  return html`<div class="head">
    <${Said} message=${message} />
    <p>
      It <span class="status ${tone}">${plain(words)}</span>${why && html`: <${Text} of=${why} />`}.
      ${isAsked && html`<a href="#/approvals">Answer the question</a>`}
      ${state === 'dead' && html`<a href="#/dead">Look at the dead letter</a>`}
    </p>
  </div>`;
}

function entriesOf(timeline: Timeline, event: string): readonly Entry[] {
  const entries: Entry[] = [
    ...timeline.told.map(({ kind, name, status, note, tookMs, atMs }, at) => ({
      ...{ key: `${kind}-${at}`, atMs, tookMs, tone: kind },
      label: html`<b><${Text} of=${name} /></b>`,
      note: html`${status !== undefined && html`<${Status} of=${status} />`}
        ${tookMs > 0 && span(tookMs)} <${Text} of=${note} />`,
    })),
    ...timeline.stages.map((stage) => ({
      ...{ key: stage.id, atMs: stage.atMs, tookMs: stage.tookMs, tone: stage.status },
      label: html`<span id=${`event-${stage.id}`}>${plain(stage.family)}</span>`,
      note: html`<${Status} of=${stage.status} />
        ${stage.status !== 'passed' && html`<span class="bad"><${Text} of=${stage.verdict} /></span>`}
        ${stage.tookMs > 0 && span(stage.tookMs)}`,
      details: html`<${StageDetails} stage=${stage} />`,
      isOpen: stage.id === event || stage.status !== 'passed' || stage.changes.length > 0,
      isQuiet: stage.id !== event && isQuiet(stage),
    })),
  ];
  return entries.sort((one, other) => one.atMs - other.atMs);
}

/** No handler was there, and nothing else is to be told of the stage. */
function isQuiet({ status, steps, changes, lines }: Stage): boolean {
  return status === 'passed' && steps.length + changes.length + lines.length === 0;
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
  const line = html`<${Time} ms=${atMs} isExact /> <span class="name">${label}</span>
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
