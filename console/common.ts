// Modules of most pages. `build.mjs` imports this file into the script of each page, so that these modules become a single script, which
// compresses better than a script for each set of pages.
import './data/follow-log';
import './data/service';
import './parts/copy-button';
import './parts/empty-state';
import './parts/error-note';
import './parts/json-view';
import './parts/keyboard';
import './parts/said';
import './parts/said-frame';
import './parts/status-badge';
import './parts/tag';
import './parts/time';
import './shell';
