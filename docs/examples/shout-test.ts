import { expectCancelled, loadForTest } from 'sluice/testing';
import shout from './shout.js';

const { dispatch } = await loadForTest(shout, { config: { maxLength: 3 } });
expectCancelled(await dispatch('egress.preparing', { content: 'hello', explicit: true }), {
  code: 'policy',
  by: 'shout/length',
});
