import assert from 'node:assert/strict';
import { loadForTest } from 'sluice/testing';
import remember from './remember.js';

await using test = await loadForTest(remember, { config: { words: import.meta.filename } });
await test.store.set('seen/ada', 41);
await test.dispatch('ingress.normalized', { sender: { id: 'ada' } });
assert.equal(await test.store.get('seen/ada'), 42);
