import { html } from '../vendor/preact.js';
import { about, post } from './client.js';
import { Action, Behind, counted, nameOf, plain, Status, Text, useLoaded, View } from './parts.js';
import type { ExtensionInfo, Finding } from './shapes.js';

/** The extensions of the host, and what the doctor finds. */
export function Extensions() {
  const { value, problem, again } = useLoaded<ExtensionInfo[] | null>('extensions', {}, 5_000);
  const { value: findings, problem: other } = useLoaded<Finding[]>('findings');
  return html`<${View} title="Extensions" problem=${problem}>
    ${value === null && html`<p class="quiet">No host runs here: the doctor tells what the config has.</p>`}
    <ul class="cards">
      ${value?.map(
        (one) => html`<li key=${one.extensionId}>
          <h3>
            <${Text} of=${one.extensionId} /> <${Status} of=${one.status} />
            ${one.isAudited && html`<span class="status odd">in audit mode</span>`}
          </h3>
          <p class="quiet">
            ${plain(`${one.version ?? 'no version'}, from ${one.source}`)}${
              one.reloads > 0 ? `, reloaded ${counted(one.reloads, 'time')}` : ''
            }
          </p>
          ${
            one.error !== undefined &&
            html`<p class="bad">
                <code>${plain(one.error.code)}</code> <${Text} of=${one.error.message} />
                <${Text} of=${one.error.hint} />
              </p>`
          }
          ${one.quarantined.map(
            (handler) =>
              html`<p class="bad">
                <${Status} of=${handler.state} /> <${Text} of=${nameOf(handler)} /> in
                ${plain(handler.family)}: <${Text} of=${handler.lastFailure} />
              </p>`,
          )}
          ${
            one.grants.length > 0 &&
            html`<p>
                Grants:
                ${one.grants.map(
                  ({ grant, isGiven }, at) =>
                    html`${at > 0 && ', '}<code>${plain(grant)}</code> <${Status} of=${isGiven ? 'allowed' : 'refused'} />`,
                )}
              </p>`
          }
          ${
            one.provides.length > 0 &&
            html`<p>Provides <${Text} of=${one.provides.join(', ')} />.</p>`
          }
          ${one.switchesOff.map(
            (text) => html`<p class="odd">Switches off: <${Text} of=${text} />.</p>`,
          )}
          <${Behind} label=${`Show what it hears (${counted(one.handlers.length, 'stage')})`}>
            <ul class="plain">
              ${one.handlers.map(
                ({ family, names }) =>
                  html`<li>${plain(family)}: <${Text} of=${names.join(', ')} /></li>`,
              )}
            </ul>
          <//>
          ${
            about.value?.write &&
            about.value.live &&
            html`<${Action}
                label="Reload"
                run=${() => post('reload', { extensionId: one.extensionId }).then(again)}
              />`
          }
        </li>`,
      )}
    </ul>
    <h2>What the doctor finds</h2>
    ${other !== '' && html`<p role="alert" class="bad">${plain(other)}</p>`}
    ${findings === undefined && other === '' && html`<p>It looks…</p>`}
    <ul class="plain">
      ${findings?.map(
        ({ severity, check, what, whose, hint }) =>
          html`<li>
            <${Status} of=${severity} /> <span class="quiet">${plain(check)}</span>
            ${whose !== undefined && html`<b><${Text} of=${whose} /></b>`} <${Text} of=${what} />
            ${hint !== undefined && html`<span class="quiet"><${Text} of=${hint} /></span>`}
          </li>`,
      )}
    </ul>
  <//>`;
}
