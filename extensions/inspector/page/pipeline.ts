import { html, useState } from '../vendor/preact.js';
import { nameOf, plain, span, Text, useLoaded, View } from './parts.js';
import type { Handler, StageInfo } from './shapes.js';

/** The catalog as a picture: a column for each pipeline, its stages in order, and the handlers in run order. */
export function Pipeline() {
  const [isAll, setAll] = useState(true);
  const { value = [], problem } = useLoaded<StageInfo[]>('stages');
  const shown = isAll ? value : value.filter(({ handlers }) => handlers.length > 0);
  const names = [...new Set(shown.map(pipelineOf))];
  return html`<${View} title="Pipeline" problem=${problem}>
    <div class="bar">
      <label>
        <input type="checkbox" checked=${!isAll} onChange=${() => setAll(!isAll)} /> only stages with
        handlers
      </label>
    </div>
    <div class="catalog">
      ${names.map(
        (name) => html`<section key=${name} aria-label=${name}>
          <h2>${plain(name)}</h2>
          <ol class="plain">
            ${shown
              .filter((stage) => pipelineOf(stage) === name)
              .map((stage) => html`<${StageBox} key=${stage.family} stage=${stage} />`)}
          </ol>
        </section>`,
      )}
    </div>
  <//>`;
}

function pipelineOf({ family }: StageInfo): string {
  return family.split('.')[0] ?? '';
}

function StageBox({ stage }: { readonly stage: StageInfo }) {
  const { family, mode, classes, purpose, emittedBy, handlers } = stage;
  return html`<li class="stage ${mode}">
    <h3 title=${purpose}>${plain(family)}</h3>
    <p class="quiet">${plain(`${mode}: ${classes.join(', ')}; by ${emittedBy}`)}</p>
    <ol class="handlers">
      ${handlers.map(
        (one) => html`<li class=${one.class} key=${nameOf(one)}>
          <b><${Text} of=${nameOf(one)} /></b> ${plain(one.class)}
          <span class="quiet"><${Text} of=${marksOf(one, stage).join(', ')} /></span>
        </li>`,
      )}
    </ol>
  </li>`;
}

function marksOf(handler: Handler, stage: StageInfo): readonly string[] {
  const { priority, timeoutMs, policy, mode, disabled, quarantined, match, operatorMatch } =
    handler;
  return [
    ...(priority === 0 ? [] : [`priority ${priority}`]),
    ...(timeoutMs === stage.timeoutMs ? [] : [`timeout ${span(timeoutMs)}`]),
    ...(policy === 'closed' ? ['fails closed'] : []),
    ...(mode === 'audit' ? ['in audit mode'] : []),
    ...(match === undefined ? [] : [`if ${matchText(match)}`]),
    ...(operatorMatch === undefined ? [] : [`if the operator's ${matchText(operatorMatch)}`]),
    ...(disabled ? ['disabled'] : []),
    ...(quarantined ? ['in quarantine'] : []),
  ];
}

function matchText(match: NonNullable<Handler['match']>): string {
  return Object.entries(match)
    .map(([field, values]) => `${field} is ${values.join(' or ')}`)
    .join(' and ');
}
