/** nginx as the floor: the cost of a proxy in C that only passes bytes on. */
import { existsSync } from 'node:fs'
import type { Contender, Field } from '../contender.ts'

const PLACES = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/local/nginx/sbin/nginx', '/opt/homebrew/bin/nginx']

// Bodies stay in memory and connections stay open on both sides. The vendor's own header turns off buffering of
// streams.
const config = ({ folder, port, upstreamPort }: Field): string => `
daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log warn;
${process.getuid?.() === 0 ? 'user root;' : ''}
events { worker_connections 8192; }
http {
  access_log off;
  client_max_body_size 64m;
  client_body_buffer_size 4m;
  keepalive_requests 10000000;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream vendor {
    server 127.0.0.1:${upstreamPort};
    keepalive 64;
    keepalive_requests 10000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://vendor;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
    }
  }
}
`

export const nginx: Contender = {
  name: 'nginx',
  command: ({ folder }) => [
    PLACES.find((place) => existsSync(place)) ?? 'nginx',
    '-p',
    folder,
    '-c',
    `${folder}/nginx.conf`,
  ],
  files: (field) => ({ 'nginx.conf': config(field) }),
  basePath: '/v1',
}
