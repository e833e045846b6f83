import { html } from '../vendor/preact.js';
import { about, post } from './client.js';
import { Action, IdLink, nameOf, plain, Status, span, Text, useLoaded, View } from './parts.js';
import type { Minute, Now as NowData, RunningHandler } from './shapes.js';

/** The view of lanes, with the jobs that run and wait in them, and of the last hour. */
export function Now() {
  const { value: now, problem, again } = useLoaded<NowData>('now', {}, 2_000);
  const minutes = now?.minutes ?? [];
  const rate = (of: (minute: Minute) => number) => minutes.map(of);
  return html`<${View} title="Now" problem=${problem}>
    <div class="plots">
      <${Plot} label="messages a second" values=${rate(({ ended }) => ended / 60)} />
      <${Plot} label="failures a minute" values=${rate(({ failed }) => failed)} />
      <${Plot} label="cancels a minute" values=${rate(({ cancelled }) => cancelled)} />
      <${Plot}
        label="milliseconds a message took"
        values=${rate(({ ended, totalMs }) => (ended === 0 ? 0 : totalMs / ended))}
      />
    </div>
    <p class="quiet">
      ${now?.state === undefined ? 'No host runs here: this is what its journal tells.' : `The host is ${now.state}.`}
    </p>
    <h2>Lanes</h2>
    ${now?.lanes.length === 0 && html`<p>Nothing runs, and nothing waits.</p>`}
    <ul class="cards">
      ${now?.lanes.map(
        ({ lane, jobs }) => html`<li key=${lane}>
          <h3><${Text} of=${lane} /></h3>
          <ul class="plain">
            ${jobs.map(
              ({ eventId, state, forMs, sessionKey, handlers }) => html`<li key=${eventId}>
                <${IdLink} id=${eventId} />
                ${state === 'handling' ? 'runs' : 'waits'} for ${span(forMs)}
                <${Held} handlers=${handlers} />
                ${
                  about.value?.write &&
                  about.value.live &&
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
      now !== undefined &&
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
        ${one.isGivenUp && html` <${Status} of="given up" />`}
      </div>`,
  );
}

function Plot({ label, values }: { readonly label: string; readonly values: readonly number[] }) {
  const most = Math.max(...values, 0);
  const last = values.at(-1) ?? 0;
  const points = values
    .map((value, at) => `${at},${most === 0 ? 30 : 30 - (28 * value) / most}`)
    .join(' ');
  const round = (value: number): string => (value >= 10 ? value.toFixed(0) : value.toFixed(2));
  const text = `${label}: ${round(last)} now, at most ${round(most)} in the last hour`;
  return html`<figure>
    <svg viewBox="0 0 59 31" preserveAspectRatio="none" role="img" aria-label=${text}>
      <polyline points=${points} />
    </svg>
    <figcaption>${label}<br /><b>${round(last)}</b> <span class="quiet">most ${round(most)}</span></figcaption>
  </figure>`;
}
