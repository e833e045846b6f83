import { html, useEffect, useState } from '../vendor/preact.js';
import { about, get, post } from './client.js';
import { Action, IdLink, plain, Status, Text, typed, View } from './parts.js';
import type { Replayed, StageInfo } from './shapes.js';

/** Dispatches again what the journal holds, through the extensions as they are on disk now, and shows what would differ. */
export function Differ({ id }: { readonly id: string }) {
  const [eventId, setEventId] = useState(id);
  const [payload, setPayload] = useState('');
  const [family, setFamily] = useState('egress.preparing');
  const [last, setLast] = useState('20');
  const [families, setFamilies] = useState<readonly string[]>([]);
  const [report, setReport] = useState<Replayed | undefined>(undefined);
  useEffect(() => {
    void get<StageInfo[]>('stages').then(
      (stages) => setFamilies(stages.map((stage) => stage.family)),
      () => undefined, // a family can be typed as well
    );
  }, []);
  useEffect(() => {
    setEventId(id);
    if (id === '') return;
    void get<{ readonly before: string }>('payload', { id }).then(
      ({ before }) => setPayload(before),
      () => setPayload(''), // it is told when it is tried
    );
  }, [id]);
  const tryOne = async (): Promise<void> => {
    const edited = payload.trim() === '' ? {} : { payload: JSON.parse(payload) as unknown };
    setReport(await post<Replayed>('differ', { eventId, ...edited }));
  };
  if (about.value?.replays === false)
    return html`<${View} title="What would differ">
      <p>This needs a journal in a file: start it with --journal.</p>
    <//>`;
  return html`<${View} title="What would differ">
    <p class="quiet">
      Dispatches go through the extensions as they are on disk now, in a process without network, file
      writes and other processes. Nothing is sent.
    </p>
    <div class="two">
      <fieldset>
        <legend>One dispatch</legend>
        <label>Event id <input value=${eventId} onInput=${typed(setEventId)} /></label>
        <label>
          Payload, as it was or edited
          <textarea rows="10" spellcheck="false" value=${payload} onInput=${typed(setPayload)}></textarea>
        </label>
        <${Action} label="Try this dispatch" run=${tryOne} />
      </fieldset>
      <fieldset>
        <legend>The last of a family</legend>
        <label>Family <input list="families" value=${family} onInput=${typed(setFamily)} /></label>
        <datalist id="families">${families.map((one) => html`<option value=${one}></option>`)}</datalist>
        <label>How many <input type="number" min="1" max="1000" value=${last} onInput=${typed(setLast)} /></label>
        <${Action}
          label="Try them"
          run=${async () => setReport(await post<Replayed>('differ', { family, last: Number(last) }))}
        />
      </fieldset>
    </div>
    ${report !== undefined && html`<${Report} report=${report} />`}
  <//>`;
}

function Report({ report }: { readonly report: Replayed }) {
  const { rows, notes } = report;
  const differing = rows.filter(({ differences }) => differences.length > 0);
  return html`<h2>Outcomes</h2>
    <p role="status">${rows.length} tried, ${differing.length} would differ</p>
    ${notes.map((note) => html`<p class="odd"><${Text} of=${note} /></p>`)}
    <table>
      <thead>
        <tr>
          <th>dispatch</th>
          <th>was</th>
          <th>would be</th>
          <th>differences</th>
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, 100).map(
          ({ eventId, family, was, is, notReplayed, differences }) => html`<tr key=${eventId}>
            <td>${plain(family)} <${IdLink} id=${eventId} /></td>
            <td><${Status} of=${was} /></td>
            <td>
              ${is === undefined ? html`<span class="quiet">not tried: ${plain(notReplayed ?? '')}</span>` : html`<${Status} of=${is} />`}
            </td>
            <td>
              <ul class="plain">
                ${differences.map(({ what }) => html`<li><${Text} of=${what} /></li>`)}
              </ul>
            </td>
          </tr>`,
        )}
      </tbody>
    </table>`;
}
