import { html, useState } from '../vendor/preact.js';
import { about, post } from './client.js';
import {
  Action,
  Behind,
  IdLink,
  LongText,
  nameOf,
  plain,
  Said,
  Status,
  span,
  Text,
  typed,
  useLoaded,
  View,
} from './parts.js';
import type { Approval } from './shapes.js';

/** The questions that wait for a human, those that are open first. */
export function Approvals() {
  const { value = [], problem, again } = useLoaded<Approval[]>('approvals', {}, 2_000);
  const open = value.filter(({ state }) => state === 'pending');
  const others = value.filter(({ state }) => state !== 'pending');
  return html`<${View} title="Approvals" problem=${problem}>
    ${open.length === 0 && html`<p>No question is open.</p>`}
    ${!about.value?.write && html`<p class="quiet">To answer here, start it with --inspect-write.</p>`}
    <ul class="cards">
      ${[...open, ...others].map((one) => html`<${Card} key=${one.id} row=${one} again=${again} />`)}
    </ul>
  <//>`;
}

function Card({ row, again }: { readonly row: Approval; readonly again: () => void }) {
  const { id, state, question, family, about: subject, fields, askedAtMs, dueAtMs } = row;
  const [reason, setReason] = useState('');
  const [isAnswered, setAnswered] = useState(false);
  const answer = (given: object) => async () => {
    await post('answer', { id, ...given });
    setAnswered(true); // at once: the list is read again a while later
    again();
  };
  const { of } = question;
  const who =
    typeof of === 'object' ? `the role ${of.role}` : of === 'owner' ? 'an owner' : 'the sender';
  const isOpen = state === 'pending' && !isAnswered;
  return html`<li>
    <h3><${Text} of=${question.title} /></h3>
    <${Said} message=${row.message} />
    <p>
      <${Status} of=${state} /> <b><${Text} of=${subject} /></b> asked by
      <${Text} of=${nameOf(question.asker)} /> in ${plain(family)}, ${span(Date.now() - askedAtMs)} ago${
        isOpen ? `, for ${span(Math.max(0, dueAtMs - Date.now()))} more` : ''
      }. May answer: <${Text} of=${who} />. Message <${IdLink} id=${row.correlationId} />
    </p>
    ${question.text !== undefined && html`<p><${Text} of=${question.text} /></p>`}
    ${row.reason !== undefined && html`<p>Reason: <${Text} of=${row.reason} /></p>`}
    <${Fields} of=${fields.filter(({ isInner }) => !isInner)} />
    <${Behind} label="Ids and marks"><${Fields} of=${fields.filter(({ isInner }) => isInner)} /><//>
    ${
      isOpen &&
      about.value?.write &&
      html`<div class="bar">
          <${Action} label="Approve" run=${answer({ state: 'allowed' })} />
          ${question.scopes.map(
            (scope) =>
              html`<${Action}
                key=${scope}
                label="Always for this ${scope}"
                isGrave
                run=${answer({ state: 'allowed', always: scope })}
              />`,
          )}
          <label for=${`reason-${id}`}>Reason</label>
          <input
            id=${`reason-${id}`}
            value=${reason}
            onInput=${typed(setReason)}
          />
          <${Action} label="Deny" run=${answer({ state: 'denied', reason })} />
        </div>`
    }
  </li>`;
}

/** The data that is acted on, field by field. */
function Fields({ of }: { readonly of: Approval['fields'] }) {
  return html`<table>
    ${of.map(
      ({ path, text }) => html`<tr key=${path}>
        <th scope="row">${plain(path)}</th>
        <td>${/\n|.{200}/.test(text) ? html`<${LongText} text=${text} />` : html`<${Text} of=${text} />`}</td>
      </tr>`,
    )}
  </table>`;
}
