import { html, render, signal, useEffect, useState } from '../vendor/preact.js';
import { Approvals } from './approvals.js';
import { about, followEvents, get, isConnected, isLocked, unlock } from './client.js';
import { DeadLetters } from './dead.js';
import { Differ } from './differ.js';
import { Extensions } from './extensions.js';
import { Messages } from './messages.js';
import { Now } from './now.js';
import { plain } from './parts.js';
import { Pipeline } from './pipeline.js';
import type { About } from './shapes.js';
import { Why } from './why.js';

const views = [
  ['messages', 'Messages'],
  ['now', 'Now'],
  ['dead', 'Dead letters'],
  ['approvals', 'Approvals'],
  ['extensions', 'Extensions'],
  ['pipeline', 'Pipeline'],
  ['differ', 'What would differ'],
] as const;

const route = signal(location.hash);

function App() {
  const [, name = 'messages', argument = ''] = /^#\/(\w+)(?:\/(.*))?$/.exec(route.value) ?? [];
  useEffect(() => {
    document.getElementById('view-title')?.focus(); // a reader of the screen hears that the view is another
  }, [name]);
  if (isLocked.value) return html`<${Locked} />`;
  const dead = about.value?.dead ?? 0;
  return html`<header>
      <a class="skip" href="#view-title">Skip to the view</a>
      <nav aria-label="Views">
        ${views.map(
          ([id, title]) =>
            html`<a href=${`#/${id}`} aria-current=${id === (name === 'facts' ? 'messages' : name) ? 'page' : undefined}
              >${title}${id === 'dead' && dead > 0 ? html` <span class="badge">${dead}</span>` : null}</a
            >`,
        )}
      </nav>
      <span class="quiet"
        >${plain(about.value?.name ?? '')} ${about.value?.write ? 'may change things' : 'read-only'},${' '}
        ${isConnected.value ? 'live' : 'not connected'}</span
      >
    </header>
    <main>${viewOf(name, textOf(argument))}</main>`;
}

/** An address that a person has typed or cut may be none. */
function textOf(argument: string): string {
  try {
    return decodeURIComponent(argument);
  } catch {
    return argument;
  }
}

function viewOf(name: string, argument: string) {
  switch (name) {
    case 'why':
      return html`<${Why} id=${argument} />`;
    case 'now':
      return html`<${Now} />`;
    case 'dead':
      return html`<${DeadLetters} />`;
    case 'approvals':
      return html`<${Approvals} />`;
    case 'extensions':
      return html`<${Extensions} />`;
    case 'pipeline':
      return html`<${Pipeline} />`;
    case 'differ':
      return html`<${Differ} id=${argument} />`;
    case 'facts':
      return html`<${Messages} key="facts" of="list" query=${argument} />`;
    default:
      return html`<${Messages} key="messages" of="messages" query="" />`;
  }
}

function Locked() {
  const [text, setText] = useState('');
  return html`<main>
    <h1>Sluice inspector</h1>
    <p>The token is missing or wrong. The command that started this page has printed its address.</p>
    <form
      class="bar"
      onSubmit=${(event: Event) => {
        event.preventDefault();
        unlock(text);
      }}
    >
      <label for="token">Token or address</label>
      <input
        id="token"
        autocomplete="off"
        value=${text}
        onInput=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
          setText(currentTarget.value)}
      />
      <button>Open</button>
    </form>
  </main>`;
}

/** Follows the events, and what the inspector says of itself. */
function begin(): void {
  if (isLocked.value) return;
  void followEvents();
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
render(html`<${App} />`, document.body);
begin();
