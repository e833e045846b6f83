import { join } from 'node:path';
import { describeDeclarations } from './described-declarations.js';
import { root } from './source-tree.js';

// A step of `npm run build`.
describeDeclarations(join(root, 'dist'));
