import { html, render } from '../vendor/preact.js';

render(html`<p>Inspector</p>`, document.body);
