// `build.mjs` makes these shared modules one script, which compresses better.
import './data/follow-log';
import './data/service';
import './parts/copy-button';
import './parts/error-note';
import './parts/json-view';
import './parts/keyboard';
import './parts/said';
import './parts/status-badge';
import './parts/time';
import './shell';
