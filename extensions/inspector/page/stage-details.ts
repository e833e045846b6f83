import { html } from '../vendor/preact.js';
import { about } from './client.js';
import {
  Behind,
  IdLink,
  LongText,
  linkTo,
  nameOf,
  plain,
  Status,
  span,
  Text,
  useLoaded,
} from './parts.js';
import type { Change, Stage, Step } from './shapes.js';

/** Everything on one stage: how it ended, its handlers in run order, the changes by author, and what else is to be known. */
export function StageDetails({ stage }: { readonly stage: Stage }) {
  const { status, verdict, steps, changes, lines } = stage;
  return html`<div class="details">
    ${status !== 'passed' && html`<p class="cancel" role="note"><${Text} of=${verdict} /></p>`}
    ${
      steps.length === 0
        ? html`<p class="quiet">No handler was there, or none was traced.</p>`
        : html`<table>
          <thead>
            <tr>
              <th>handler</th>
              <th>class</th>
              <th>result</th>
              <th>time of its budget</th>
            </tr>
          </thead>
          <tbody>
            ${steps.map((step, at) => html`<${HandlerRow} key=${at} step=${step} stage=${stage} />`)}
          </tbody>
        </table>`
    }
    ${
      changes.length > 0 &&
      html`<h3>Changes</h3>
          ${changes.map((change) => html`<${Diff} key=${change.path} change=${change} />`)}`
    }
    <ul class="plain">
      ${lines.map(({ words }) => html`<li><${Text} of=${words} /></li>`)}
    </ul>
    <div class="bar">
      ${
        stage.omitted === undefined
          ? html`<${Behind} label="Payload"><${Payload} id=${stage.id} /><//>`
          : html`<span class="quiet">kept without its payload: ${plain(stage.omitted)}</span>`
      }
      Link to this event: <${IdLink} id=${stage.id} />
    </div>
  </div>`;
}

function HandlerRow({ step, stage }: { readonly step: Step; readonly stage: Stage }) {
  const { durationMs, budget, why, recheck } = step;
  const limit = budget?.timeoutMs ?? stage.handlerBudgetMs;
  const share = limit === undefined ? 0 : Math.min(100, (100 * (durationMs ?? 0)) / limit);
  return html`<tr>
    <td><${Text} of=${nameOf(step)} /></td>
    <td>${plain(step.class)}</td>
    <td>
      <${Status} of=${step.result} />
      ${recheck ? ' again' : ''} <${Text} of=${why} />
    </td>
    <td>
      ${
        durationMs === undefined
          ? html`<span class="quiet">not called, or not awaited</span>`
          : html`<span class="budget" aria-hidden="true"
              ><span class="fill ${share > 80 ? 'failed' : 'passed'}" style=${{ width: `${share}%` }}></span
            ></span>
            ${span(durationMs)}${limit === undefined ? '' : ` of ${span(limit)}`}${
              budget === undefined ? '' : ` (set by the ${budget.from})`
            }`
      }
    </td>
  </tr>`;
}

function Diff({ change }: { readonly change: Change }) {
  const { path, writes, isConflict, before, after } = change;
  return html`<div class="diff">
    <p>
      <code><${Text} of=${path} /></code> by
      ${writes.map(
        (one, at) =>
          html`${at > 0 ? ', then ' : ' '}<b><${Text} of=${nameOf(one)} /></b>${
            one.overruled ? ' (overruled)' : ''
          }`,
      )}
      ${isConflict && html` <span class="status odd">conflict</span>`}
    </p>
    <del><${Text} of=${before} /></del>
    <ins><${Text} of=${after} /></ins>
  </div>`;
}

/** The payload of a dispatch before and after its stage, behind a click. */
function Payload({ id }: { readonly id: string }) {
  const { value, problem } = useLoaded<{ readonly before: string; readonly after: string }>(
    'payload',
    { id },
  );
  if (value === undefined) return html`<p>${problem === '' ? 'Reading…' : plain(problem)}</p>`;
  const { before, after } = value;
  return html`<h4>Emitted</h4>
    <${LongText} text=${before} />
    ${
      after !== before &&
      html`<h4>After every patch</h4>
      <${LongText} text=${after} />`
    }
    ${about.value?.replays && html`<a href=${linkTo('differ', id)}>What would differ today?</a>`}`;
}
