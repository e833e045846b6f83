import { html, render, signal, useEffect, useState } from '../vendor/preact.js';
import { Approvals } from './approvals.js';
import {
  about,
  followEvents,
  get,
  isConnected,
  isLocked,
  login,
  loginByLink,
  logout,
} from './client.js';
import { DeadLetters } from './dead.js';
import { Differ } from './differ.js';
import { Extensions } from './extensions.js';
import { Live } from './live.js';
import { Messages } from './messages.js';
import { Action, messageOf, plain, typed } from './parts.js';
import { Pipeline } from './pipeline.js';
import type { About } from './shapes.js';
import { Why } from './why.js';

interface ViewProps {
  readonly id: string;
}

/** The views by name; those with a title are in the navigation. */
const views: Readonly<
  Record<string, { readonly title?: string; draw(props: ViewProps): unknown }>
> = {
  messages: {
    title: 'Messages',
    draw: ({ id }) => html`<${Messages} of="messages" query=${id} />`,
  },
  facts: { draw: ({ id }) => html`<${Messages} of="list" query=${id} />` },
  why: { draw: ({ id }) => html`<${Why} id=${id} />` },
  now: { title: 'Live', draw: () => html`<${Live} />` },
  dead: { title: 'Dead letters', draw: () => html`<${DeadLetters} />` },
  approvals: { title: 'Approvals', draw: () => html`<${Approvals} />` },
  extensions: { title: 'Extensions', draw: () => html`<${Extensions} />` },
  pipeline: { title: 'Pipeline', draw: () => html`<${Pipeline} />` },
  differ: { title: 'What would differ', draw: ({ id }) => html`<${Differ} id=${id} />` },
};

const route = signal(location.hash);

function App() {
  const [, name = 'messages', argument = ''] = /^#\/(\w+)(?:\/(.*))?$/.exec(route.value) ?? [];
  const place = name === 'facts' ? 'messages' : name; // a search stays in its view
  useEffect(() => {
    document.getElementById('view-title')?.focus(); // a reader of the screen hears that the view is another
  }, [place]);
  if (isLocked.value) return html`<${Locked} />`;
  const dead = about.value?.dead ?? 0;
  const view = Object.hasOwn(views, name) ? views[name] : views['messages'];
  return html`<header>
      <a class="skip" href="#view-title">Skip to the view</a>
      <nav aria-label="Views">
        ${Object.entries(views).map(
          ([id, { title }]) =>
            title &&
            html`<a href=${`#/${id}`} aria-current=${id === place ? 'page' : undefined}
              >${title}${id === 'dead' && dead > 0 && html` <span class="badge">${dead}</span>`}</a
            >`,
        )}
      </nav>
      <span class="quiet" title=${plain(about.value?.name ?? '')}>
        ${plain(about.value?.name.replace(/^.*[\\/]/, '') ?? '')} · ${about.value?.write ? 'you may change things' : 'read-only'} ·
        ${isConnected.value ? 'connected' : 'not connected'}
      </span>
      <${Action} label="Log out" run=${logout} />
    </header>
    <main>${view?.draw({ id: textOf(argument) })}</main>`;
}

/** An address that a person has typed or cut may be none. */
function textOf(argument: string): string {
  try {
    return decodeURIComponent(argument);
  } catch {
    return argument;
  }
}

function Locked() {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  return html`<main>
    <h1>Sluice inspector</h1>
    <p>Log in with the token that the command has printed, or open the address that it stands in.</p>
    <form
      class="bar"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        login(text).then(
          () => location.reload(),
          (error: unknown) => setProblem(messageOf(error)),
        );
      }}
    >
      <label for="token">Token or address</label>
      <input id="token" type="password" autocomplete="off" value=${text} onInput=${typed(setText)} />
      <button>Log in</button>
      ${problem !== '' && html`<span role="alert" class="bad">${plain(problem)}</span>`}
    </form>
  </main>`;
}

/** Follows the events, and what the inspector says of itself. */
function begin(): void {
  if (isLocked.value) return;
  followEvents();
  const look = (): void =>
    void get<About>('about').then(
      (value) => {
        about.value = value;
        document.title = `${value.dead > 0 ? `(${value.dead}) ` : ''}Sluice inspector`;
      },
      () => undefined, // the header says that it is not connected
    );
  look();
  setInterval(look, 5_000);
}

addEventListener('hashchange', () => {
  route.value = location.hash;
});
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea');
  if (event.key !== '/' || isTyping) return;
  event.preventDefault();
  if (document.getElementById('search') === null) location.hash = '#/messages';
  setTimeout(() => document.getElementById('search')?.focus());
});
await loginByLink();
route.value = location.hash;
render(html`<${App} />`, document.body);
begin();
