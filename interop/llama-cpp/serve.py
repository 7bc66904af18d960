"""Starts llama.cpp's server: `serve.py MODEL CONTEXT PORT`. It ends with its standard input."""

import sys

import xllamacpp


def main():
    model, context, port = sys.argv[1:]
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.model_alias = {"script"}
    parameters.n_ctx = int(context)
    parameters.n_parallel = 1
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = int(port)
    parameters.use_jinja = True
    parameters.sampling.temp = 0
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
