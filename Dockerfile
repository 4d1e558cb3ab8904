# One image for every part of Quintain: web server, command line and workers. Submitted models run in a sandbox inside
# the container, which needs the security options in compose.yaml; without them only built-in models run.
ARG BASE=docker.io/library/python:3.11-slim
FROM ${BASE}

# bubblewrap makes the sandbox, libseccomp its filter of system calls, util-linux has prlimit.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap libseccomp2 util-linux \
    && rm -rf /var/lib/apt/lists/*

# Packages first, from the lock with its hashes: they change less often than the code.
# requirements/test.lock has those for S3, Ray, scikit-learn and ONNX as well.
ARG LOCK=requirements/runtime.lock
WORKDIR /app
COPY requirements ./requirements
RUN python3 -m venv /opt/quintain \
    && /opt/quintain/bin/pip install --no-cache-dir --require-hashes -r "$LOCK"

COPY pyproject.toml README.md LICENSE ./
COPY src ./src
COPY docs ./docs
COPY examples ./examples
RUN /opt/quintain/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

RUN useradd --create-home --uid 1000 quintain \
    && mkdir /data \
    && chown quintain:quintain /data
USER quintain

ENV PATH=/opt/quintain/bin:$PATH \
    QUINTAIN_WORKSPACE=/data \
    QUINTAIN_HOST=0.0.0.0 \
    QUINTAIN_LOG_FORMAT=json
VOLUME /data
EXPOSE 8000

HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]

CMD ["quintain", "serve"]
