import { html, useEffect, useLayoutEffect, useState } from '../vendor/preact.js';
import { about, listen } from './client.js';
import {
  counted,
  linkTo,
  plain,
  Status,
  span,
  Text,
  Time,
  typed,
  useLoaded,
  View,
} from './parts.js';
import type { Message, Row } from './shapes.js';
import { stateOf } from './states.js';

interface Found {
  readonly rows: readonly (Row | Message)[];
  readonly before?: number;
}

/** The messages, newest first, as they happen; or the entries, all or those that a search finds. */
export function Messages({
  of,
  query,
}: {
  readonly of: 'messages' | 'list';
  readonly query: string;
}) {
  const [words, setWords] = useState(query);
  const [before, setBefore] = useState('');
  const { value, problem, again } = useLoaded<Found>(of, { q: query, before });
  // before the next key: it would write over what is typed meanwhile
  useLayoutEffect(() => {
    setWords(query);
    setBefore('');
  }, [query, of]);
  useEffect(() => (query === '' && before === '' ? listen(again) : undefined), [query, before]);

  const { rows = [], before: older } = value ?? {};
  const isFacts = of === 'list';
  const all = counted(rows.length, isFacts ? 'fact' : 'message');
  const mayText = about.value?.text === true;
  return html`<${View} title="Messages" problem=${problem}>
    <form
      role="search"
      class="bar"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        location.hash = linkTo(isFacts ? 'facts' : 'messages', words.trim());
      }}
    >
      <label for="search">Search</label>
      <input
        id="search"
        type="search"
        autocomplete="off"
        spellcheck="false"
        placeholder="a name, ${mayText ? 'a word that was said, ' : ''}an id, or session: family: extension: code: status: kind:${mayText ? ' text:' : ''}"
        value=${words}
        onInput=${typed(setWords)}
      />
      <button>Find</button>
      ${
        isFacts
          ? html`<a href=${linkTo('messages', query)}>Messages alone</a>`
          : html`<a href=${linkTo('facts', query)}>${query === '' ? 'All facts' : 'Facts that fit'}</a>`
      }
    </form>
    <p class="quiet">
      <span role="status"
        >${value === undefined ? 'Looking…' : plain(`${all}${query === '' ? '' : ` for ${query}`}`)}</span
      >
      ${!isFacts && !mayText && html`<span>To see what was said, start it with --inspect-text.</span>`}
    </p>
    <ul class="lines" aria-label="${isFacts ? 'Facts' : 'Messages'}, newest first">
      ${rows.map(
        (one) =>
          html`<li key=${one.seq}>
            ${'kind' in one ? html`<${FactLine} row=${one} />` : html`<${MessageLine} row=${one} />`}
          </li>`,
      )}
    </ul>
    <div class="bar">
      ${before !== '' && html`<button type="button" onClick=${() => setBefore('')}>Back to the newest</button>`}
      ${
        older !== undefined &&
        html`<button type="button" onClick=${() => setBefore(String(older))}>Look further back</button>`
      }
    </div>
  <//>`;
}

function MessageLine({ row }: { readonly row: Message }) {
  const { id, fromMs, toMs, channel, sender, conversation, agentId, text } = row;
  const { words, why, tone, isOpen } = stateOf(row);
  const place = [conversation ?? channel, agentId && `agent ${agentId}`]
    .filter(Boolean)
    .join(' · ');
  const trouble = [
    ...(why === undefined ? [] : [why]),
    ...(row.cancels === 0 ? [] : [counted(row.cancels, 'cancel')]),
    ...(row.failures === 0 ? [] : [counted(row.failures, 'failure')]),
  ];
  return html`<a class="line message" href=${linkTo('why', id)}>
    <${Time} ms=${fromMs} />
    <span class="from">
      ${sender === undefined ? html`<span class="quiet">not read yet</span>` : html`<b><${Text} of=${sender} /></b>`}
    </span>
    <span class="said"><${Text} of=${text} /></span>
    <span class="state ${tone}">${plain(words)}</span>
    <span class="took">${!isOpen && html`<${ModelTime} ms=${toMs - fromMs} modelMs=${row.modelMs} />`}</span>
    <span class="quiet"><${Text} of=${place} /></span>
    <span class="trouble bad" title=${plain(trouble.join(', '))}>${plain(trouble.join(', '))}</span>
  </a>`;
}

/** The time that a message took, with the part of its model as a bar. */
function ModelTime({ ms, modelMs }: { readonly ms: number; readonly modelMs: number }) {
  const share = ms === 0 ? 0 : Math.max(0, Math.min(100, (100 * modelMs) / ms));
  const model = modelMs > 0 ? `, model ${span(modelMs)}` : '';
  return html`<span class="track" aria-hidden="true"
      ><span class="fill model" style=${{ width: `${share}%` }}></span
    ></span>
    ${span(ms)}${model}`;
}

function FactLine({ row }: { readonly row: Row }) {
  const { atMs, kind, id, name, status, who, code, correlationId } = row;
  const target = kind === 'dispatch' ? id : correlationId || id;
  return html`<a class="line" href=${linkTo('why', target)}>
    <${Time} ms=${atMs} /> <span class="kind">${kind}</span>
    <span class="name"><${Text} of=${name} /></span>
    ${status === undefined ? html`<span></span>` : html`<${Status} of=${status} />`}
    <span class="who">${plain([who, code].filter((one) => one !== undefined).join(' '))}</span>
    <span class="id"><${Text} of=${target} /></span>
  </a>`;
}
