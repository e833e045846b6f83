import { html } from '../vendor/preact.js';
import { about, post } from './client.js';
import {
  Action,
  counted,
  IdLink,
  nameOf,
  plain,
  Status,
  span,
  Text,
  useLoaded,
  View,
} from './parts.js';
import type { BudgetLine, Now as Data, Figure, RunningHandler } from './shapes.js';

type Counted = 'ended' | 'failed' | 'cancelled' | 'answered' | 'answerMs';

const sumOf = (figures: readonly Figure[], of: Counted): number =>
  figures.reduce((sum, one) => sum + one[of], 0);

/** Milliseconds that an answer took, on average. */
const answerMs = (figures: readonly Figure[]): number =>
  sumOf(figures, 'answerMs') / Math.max(1, sumOf(figures, 'answered'));

const spanOf = (ms: number): string => (ms === 0 ? 'none' : span(ms));

/** A value for each of the last 60 minutes, the oldest first. */
function minutesOf(figures: readonly Figure[], value: (of: readonly Figure[]) => number) {
  return Array.from({ length: 60 }, (_, at) => value(figures.filter(({ ago }) => ago === 59 - at)));
}

/** The last hour of a host in small charts, what is open, the budget, and the lanes with what runs and waits in them. */
export function Live() {
  const { value: now, problem, again } = useLoaded<Data>('now', {}, 2_000);
  if (now === undefined) return html`<${View} title="Live" problem=${problem}><//>`;
  const { figures, budget = [] } = now;
  const plot = (
    label: string,
    of: (some: readonly Figure[]) => number,
    show: (value: number) => string = String,
  ) =>
    html`<${Plot} label=${label} values=${minutesOf(figures, of)} all=${of(figures)} show=${show} />`;
  return html`<${View} title="Live" problem=${problem}>
    <p>
      ${now.state === undefined ? 'No host runs here: this is what its journal tells.' : `The host is ${now.state}.`}
      <a href="#/approvals">${counted(now.questions, 'open question')}</a>,
      <a href="#/dead">${counted(now.dead, 'dead letter')}</a>,
      ${counted(
        now.lanes.reduce((sum, { jobs }) => sum + jobs.length, 0),
        'message',
      )} under way.
    </p>
    <h2>The last hour</h2>
    <div class="plots">
      ${plot('Messages', (some) => sumOf(some, 'ended'))}
      ${plot('Answer time', answerMs, spanOf)}
      ${plot('Failures', (some) => sumOf(some, 'failed'))}
      ${plot('Stopped by a rule', (some) => sumOf(some, 'cancelled'))}
    </div>
    <div class="two half">
      <${Shares} of="agentId" title="By agent" figures=${figures} />
      <${Shares} of="channel" title="By channel" figures=${figures} />
    </div>
    ${budget.length > 0 && html`<${Budget} lines=${budget} />`}
    <h2>Lanes</h2>
    ${now.lanes.length === 0 && html`<p>Nothing runs, and nothing waits.</p>`}
    <ul class="cards">
      ${now.lanes.map(
        ({ lane, jobs }) => html`<li key=${lane}>
          <h3><${Text} of=${lane} /></h3>
          <ul class="plain">
            ${jobs.map(
              ({ eventId, state, forMs, isAsked, sessionKey, handlers }) => html`<li key=${eventId}>
                <${IdLink} id=${eventId} />
                ${
                  isAsked
                    ? html`came ${span(forMs)} ago, and <a href="#/approvals">waits for an answer</a>`
                    : `${state === 'handling' ? 'runs' : 'waits'} for ${span(forMs)}`
                }
                <${Held} handlers=${handlers} />
                ${
                  about.value?.write &&
                  about.value.live &&
                  !isAsked &&
                  sessionKey !== undefined &&
                  html`<${Action}
                      label="Stop the turn"
                      isGrave
                      run=${() => post('stop', { sessionKey }).then(again)}
                    />`
                }
              </li>`,
            )}
          </ul>
        </li>`,
      )}
    </ul>
    ${
      now.others.length > 0 &&
      html`<h2>Handlers of no lane</h2>
          <${Held} handlers=${now.others} />`
    }
  <//>`;
}

function Held({ handlers }: { readonly handlers: readonly RunningHandler[] }) {
  return handlers.map(
    (one) =>
      html`<div>
        held by <b><${Text} of=${nameOf(one)} /></b> in ${plain(one.family)} for ${span(one.runningMs)}
        ${one.isGivenUp && html`<${Status} of="given up" />`}
      </div>`,
  );
}

/** A line of 60 minutes: its end is now. */
function Line({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const most = Math.max(...values, 0) || 1;
  const points = values.map((value, at) => `${at},${30 - (28 * value) / most}`).join(' ');
  return html`<svg viewBox="0 0 59 31" preserveAspectRatio="none" role="img" aria-label=${label}>
    <polyline points=${points} />
  </svg>`;
}

function Plot({
  label,
  values,
  all,
  show,
}: {
  readonly label: string;
  readonly values: readonly number[];
  /** The value of the whole hour. */
  readonly all: number;
  readonly show: (value: number) => string;
}) {
  const [last, most] = [show(values.at(-1) ?? 0), show(Math.max(...values))];
  const text = `${label}: ${last} in this minute, at most ${most} in one`;
  return html`<figure>
    <figcaption>${label} <b>${show(all)}</b></figcaption>
    <${Line} values=${values} label=${text} />
    <span class="quiet">${last} in this minute, at most ${most}</span>
  </figure>`;
}

/** The figures of each agent or channel. */
function Shares({
  of,
  title,
  figures,
}: {
  readonly of: 'agentId' | 'channel';
  readonly title: string;
  readonly figures: readonly Figure[];
}) {
  const names = [...new Set(figures.map((one) => one[of]))].sort();
  return html`<section>
    <h3>${title}</h3>
    ${names.length === 0 && html`<p class="quiet">No message has ended.</p>`}
    <table>
      ${names.map((name) => {
        const own = figures.filter((one) => one[of] === name);
        const values = minutesOf(own, (some) => sumOf(some, 'ended'));
        const failed = sumOf(own, 'failed');
        return html`<tr key=${name}>
          <th scope="row"><${Text} of=${name} /></th>
          <td class="small"><${Line} values=${values} label="messages a minute" /></td>
          <td>${counted(sumOf(own, 'ended'), 'message')}</td>
          <td>${spanOf(answerMs(own))}</td>
          <td class=${failed > 0 ? 'bad' : 'quiet'}>${counted(failed, 'failure')}</td>
        </tr>`;
      })}
    </table>
  </section>`;
}

/** What is used of the caps of a day, the fullest first. */
function Budget({ lines }: { readonly lines: readonly BudgetLine[] }) {
  const show = (figure: number, unit: BudgetLine['unit']): string =>
    unit === 'tokens' ? `${figure.toLocaleString('en')} tokens` : `$${(figure / 1e6).toFixed(2)}`;
  return html`<h2>The budget of ${lines[0]?.day}</h2>
    <table>
      ${lines.slice(0, 20).map(({ name, unit, used, reserved, cap }) => {
        const share = cap === undefined ? 0 : Math.min(100, (100 * (used + reserved)) / cap);
        return html`<tr key=${`${name}${unit}`}>
          <th scope="row"><${Text} of=${name} /></th>
          <td>
            <span class="budget" aria-hidden="true"
              ><span class="fill ${share > 80 ? 'failed' : 'passed'}" style=${{ width: `${share}%` }}></span
            ></span>
          </td>
          <td>
            ${show(used, unit)} used${reserved > 0 ? `, ${show(reserved, unit)} reserved` : ''}${
              cap === undefined ? '' : ` of ${show(cap, unit)}`
            }
          </td>
        </tr>`;
      })}
    </table>`;
}
