import { html } from '../vendor/preact.js';
import { about } from './client.js';
import { LongText, linkTo, plain, useLoaded } from './parts.js';

/** The payload of a dispatch before and after its stage, behind a click. */
export function Payload({ id }: { readonly id: string }) {
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
