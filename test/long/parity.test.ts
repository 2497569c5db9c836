import { describeRandomScripts } from '../parity/random-scripts';

describeRandomScripts(100);
