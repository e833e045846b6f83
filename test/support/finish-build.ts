import { join } from 'node:path';
import { finishDeclarations } from './finish-declarations.js';
import { root } from './source-tree.js';

// A step of `npm run build`.
finishDeclarations(join(root, 'dist'), join(root, 'src/kernel/dist'));
