export { type Inspector, type InspectorOptions, startInspector } from './server.js';
export type {
  GivenAnswer,
  InspectedHost,
  InspectorSource,
  ReplayedRow,
  ReplayReport,
  ReplayRequest,
} from './source.js';
