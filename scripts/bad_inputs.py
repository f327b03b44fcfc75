#!/usr/bin/env python3
"""Black-box runner for bad-inputs.jsonl.  usage: run_bad_inputs.py HOST:PORT [bad-inputs.jsonl] [--strict] [--jobs N]
--strict: only expect_status counts (design decisions as recommended); default also accepts accept_statuses.
Fixture the server under test must be configured with: see README.md beside this file.
request_target / raw / host / header strings are latin-1: one character = one byte. {{repeat:S:N}} = S repeated N times."""
import json,re,socket,sys,time
from concurrent.futures import ThreadPoolExecutor
args=[a for a in sys.argv[1:] if not a.startswith('--')]
strict='--strict' in sys.argv; jobs=int(sys.argv[sys.argv.index('--jobs')+1]) if '--jobs' in sys.argv else 8
if '--jobs' in sys.argv: args=[a for a in args if a!=str(jobs)]
host,port=args[0].rsplit(':',1); port=int(port); path=args[1] if len(args)>1 else __import__('os').path.join(__import__('os').path.dirname(__import__('os').path.abspath(__file__)),'../tests/corpora/bad-inputs.jsonl')
def ex(s): return re.sub(r'\{\{repeat:(.*?):(\d+)\}\}',lambda m:m[1]*int(m[2]),s,flags=re.S)
def build(o):
    if 'raw' in o: return ex(o['raw']).encode('latin1')
    h=''
    if not o.get('no_host'): h+='Host: %s\r\n'%o.get('host','localhost')
    for k,v in o.get('headers',[]): h+=f'{k}: {v}\r\n'
    h+=o.get('raw_headers','')
    if 'body' not in o and 'raw_headers' not in o: h+='Connection: close\r\n'
    return (f"{o.get('method','GET')} {ex(o['request_target'])} {o.get('http_version','HTTP/1.1')}\r\n{h}\r\n{o.get('body','')}").encode('latin1')
def recv_all(s,deadline,head_only):
    b=b''
    while True:
        left=deadline-time.time()
        if left<=0: return b,'TIMEOUT'
        s.settimeout(left)
        try: d=s.recv(65536)
        except socket.timeout: return b,'TIMEOUT'
        except (ConnectionResetError,BrokenPipeError): return b,'RST'
        if not d: return b,'EOF'
        b+=d
        if b'\r\n\r\n' in b:
            h,rest=b.split(b'\r\n\r\n',1)
            m=re.search(rb'(?i)\r\ncontent-length: *(\d+)',h)
            if head_only or (m and len(rest)>=int(m[1])): return b,'DONE'
            if m is None and b'transfer-encoding' in h.lower() and rest.endswith(b'0\r\n\r\n'): return b,'DONE'
def parse(b):
    if not b.startswith(b'HTTP/'): return None
    h,_,body=b.partition(b'\r\n\r\n'); ls=h.split(b'\r\n'); hd=[(l.split(b':',1)[0].lower().decode('latin1'),l.split(b':',1)[1].strip().decode('latin1')) for l in ls[1:] if b':' in l]
    m=[v for k,v in hd if k=='content-length']; n=int(m[0]) if m else len(body)
    return int(ls[0].split()[1]),hd,body[:n],body[n:]
def run(o):
    t0=time.time(); errs=[]
    try: s=socket.create_connection((host,port),timeout=5)
    except OSError as e: return o,[f'connect: {e}'],0
    try: s.sendall(build(o))
    except OSError: pass
    multi='expect_second_status' in o
    b,how=recv_all(s,time.time()+(25 if o.get('slow') else 5),o.get('method')=='HEAD')
    if multi and how=='DONE':
        more,_=recv_all(s,time.time()+3,False); b+=more
    s.close(); dt=time.time()-t0
    want=[o['expect_status']] if strict else [o['expect_status']]+o.get('accept_statuses',[])
    r=parse(b)
    if r is None:
        got='CLOSE' if how in('EOF','RST') else how
        if got not in want and not (how=='RST' and 'RST' in want): errs.append(f'got {got} ({b[:40]!r}), want {want}')
        return o,errs,dt
    st,hd,body,rest=r; H={}
    for k,v in hd: H.setdefault(k,[]).append(v)
    if st not in want: errs.append(f'status {st}, want {want}: {body[:120]!r}')
    if not o.get('slow') and dt>2: errs.append(f'slow: {dt:.2f}s')
    ct=(H.get('content-type') or [''])[0]
    if o.get('envelope') and st in want:
        if st>=400:
            try:
                j=json.loads(body); e=j['error']
                if j.get('data','x') is not None: errs.append('data is not null')
                if e.get('status')!=st: errs.append('error.status differs from HTTP status')
                if st==o['expect_status'] and o['expect_error_name'] and e.get('name')!=o['expect_error_name']: errs.append(f"error.name {e.get('name')}, want {o['expect_error_name']}")
                if not isinstance(e.get('message'),str) or len(e['message'])>512: errs.append('message missing or over 512 characters')
                if len(body)>8192+4096: errs.append('error body too large')
            except Exception as x: errs.append(f'no envelope: {x} {body[:80]!r}')
            if not ct.startswith('application/json'): errs.append(f'content-type {ct!r}')
        else:
            wct=o.get('expect_content_type','application/json')
            if not ct.startswith(wct): errs.append(f'content-type {ct!r}, want {wct}')
            if wct=='application/json':
                try:
                    j=json.loads(body)
                    if not isinstance(j.get('data'),dict) or j.get('meta')!={}: errs.append('success envelope')
                except Exception as x: errs.append(f'body: {x}')
        if H.get('x-content-type-options')!=['nosniff']: errs.append('no nosniff')
    if o.get('expect_no_body') and rest+body!=b'' and o.get('method')=='HEAD': errs.append('HEAD with a body')
    for k,v in o.get('expect_headers',{}).items():
        if v.lower() not in ','.join(H.get(k,[])).lower(): errs.append(f'header {k}={H.get(k)}, want {v}')
    for k in o.get('forbid_headers',[]):
        if k in H: errs.append(f'header {k} present')
    if 'forbid_body' in o and o['forbid_body'].encode() in body: errs.append('forbidden text reflected in body')
    if 'forbid_response_header_value' in o and any(o['forbid_response_header_value'] in v for _,v in hd): errs.append('forbidden header value reflected')
    for k,v in hd:
        if k in('set-cookie','x-evil'): errs.append(f'injected header {k}')
    if multi:
        r2=parse(rest)
        if r2 is None or r2[0]!=o['expect_second_status']: errs.append(f'second answer {rest[:60]!r}')
    return o,errs,dt
cases=[json.loads(l) for l in open(path)]
bad=0
with ThreadPoolExecutor(jobs) as ex_:
    for o,errs,dt in ex_.map(run,cases):
        if errs: bad+=1; print('FAIL',o['name'],'|',o.get('decision') or '-','|','; '.join(errs))
alive=run({'name':'alive','request_target':'/api/get-content-type?pathname=/en/articles/hello-world&site=main','expect_status':200,'expect_error_name':None,'envelope':True})
print(f'{len(cases)-bad}/{len(cases)} passed; still alive: {not alive[1]}'); sys.exit(bool(bad or alive[1]))
