// The names of this layer that the host uses. They are part of the package by `index.ts`, which loads more.

export * from './receiver.js';
