import { html, useState } from '../vendor/preact.js';
import { about, post } from './client.js';
import {
  Action,
  Behind,
  counted,
  IdLink,
  LongText,
  plain,
  Said,
  Status,
  Text,
  Time,
  typed,
  useLoaded,
  View,
} from './parts.js';
import type { DeadLetter } from './shapes.js';

/** The messages that could not be handled, and wait for an operator. */
export function DeadLetters() {
  const [filter, setFilter] = useState('');
  const { value: all = [], problem, again } = useLoaded<DeadLetter[]>('dead', {}, 5_000);
  const wanted = filter.toLowerCase();
  const shown = all.filter(({ eventId, channel, accountId, reason = '', message }) =>
    `${eventId} ${channel}/${accountId} ${reason} ${message?.sender ?? ''}`
      .toLowerCase()
      .includes(wanted),
  );
  const ids = shown.map(({ eventId }) => eventId);
  const each = (action: 'retry' | 'purge', some: readonly string[]) => () =>
    post(action, { ids: some }).then(again);
  const mayWrite = about.value?.write === true;
  return html`<${View} title="Dead letters" problem=${problem}>
    <div class="bar">
      <label for="filter">Only those with</label>
      <input
        id="filter"
        type="search"
        placeholder="a part of the writer, the id, the channel or the reason"
        value=${filter}
        onInput=${typed(setFilter)}
      />
      <span role="status">${shown.length} of ${all.length}</span>
      ${
        mayWrite &&
        shown.length > 0 &&
        html`<${Action} label="Retry all ${shown.length}" isGrave run=${each('retry', ids)} />
            <${Action} label="Purge all ${shown.length}" isGrave run=${each('purge', ids)} />`
      }
    </div>
    ${!mayWrite && html`<p class="quiet">To retry or purge, start it with --inspect-write.</p>`}
    <ul class="cards">
      ${shown.slice(0, 100).map(
        (one) => html`<li key=${one.eventId}>
          <p>
            <${Time} ms=${one.endedAtMs ?? one.acceptedAtMs} /> <${IdLink} id=${one.eventId} />
            ${plain(`${one.channel}/${one.accountId}`)} <${Status} of=${one.outcome ?? 'dead'} />
            <span class="quiet">begun ${counted(one.attempts, 'time')}</span>
          </p>
          <${Said} message=${one.message} />
          <p class="bad"><${Text} of=${one.reason ?? 'no reason is known'} /></p>
          <div class="bar">
            <${Behind} label="Body"><${Body} id=${one.eventId} /><//>
            ${
              mayWrite &&
              html`<${Action} label="Retry" run=${each('retry', [one.eventId])} />
                  <${Action} label="Purge" isGrave run=${each('purge', [one.eventId])} />`
            }
          </div>
        </li>`,
      )}
    </ul>
    ${shown.length > 100 && html`<p>${shown.length - 100} more: narrow the search.</p>`}
  <//>`;
}

function Body({ id }: { readonly id: string }) {
  const { value, problem } = useLoaded<{ readonly body?: string }>('body', { id });
  if (value === undefined) return html`<p>${problem === '' ? 'Reading…' : plain(problem)}</p>`;
  return html`<${LongText} text=${value.body ?? 'the journal has not kept it'} />`;
}
