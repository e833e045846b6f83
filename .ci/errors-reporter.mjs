// A reporter of vitest that keeps what no test has failed by, such as a worker that ended, beside the JSON report.
import { writeFileSync } from 'node:fs';

const given = '--outputFile.json=';
const report = process.argv.find((one) => one.startsWith(given))?.slice(given.length);

export default class {
  onTestRunEnd(_modules, errors) {
    const lines = errors.map(({ message, cause }) => `${message} ${cause?.message ?? ''}`.trim());
    if (report !== undefined) writeFileSync(`${report}.errors`, lines.join('\n'));
  }
}
