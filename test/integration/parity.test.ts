import { describeRandomScripts } from '../parity/random-scripts';

/** A hundred are in `test/long`. */
describeRandomScripts(process.env['HOLDFAST_TEST_CLUSTER'] === undefined ? 25 : 40);
