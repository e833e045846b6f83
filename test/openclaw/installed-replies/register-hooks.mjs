import { register } from 'node:module';

register('./load-hooks.mjs', import.meta.url);
