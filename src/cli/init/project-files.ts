/** The tools of a project that the command line writes. */
export const devDependencies = {
  '@types/node': '^20.19.43',
  typescript: '^7.0.2',
  vitest: '^4.1.12',
} as const;

/** The compiler's settings of such a project. @param include the files, as the compiler takes them. */
export function tsconfigOf(...include: readonly string[]): string {
  return json({
    compilerOptions: {
      target: 'ES2023',
      lib: ['ES2023', 'ESNext.Disposable'],
      module: 'NodeNext',
      moduleResolution: 'NodeNext',
      types: ['node'],
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
    },
    include,
  });
}

/** A JSON file as people write it. */
export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
