import { render } from 'preact';
import { Console } from './shell';

const place = document.getElementById('app');
if (place !== null) render(<Console />, place);
